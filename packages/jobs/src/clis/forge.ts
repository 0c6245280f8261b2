import type { JobEvent } from '../output/events.ts'
import { plainLine } from '../output/json-lines.ts'
import { addOpenText, setMessage, type Reading } from '../output/reading.ts'
import { judgeByText, type Cli, type RunRequest } from './cli.ts'

const args = ({ sessionId, workFolder }: RunRequest): readonly string[] => [
  '-C',
  workFolder,
  ...(sessionId === undefined ? [] : ['--conversation-id', sessionId]),
]

/** `● [time] Initialize ID`, `● [time] Continue ID`, `● [time] Finished ID`. */
const MARK = /^\s*●\s*\[[^\]]*\]\s*(Initialize|Continue|Finished)\s+(\S+)/

const readLine = (reading: Reading, line: string, now: string): readonly JobEvent[] => {
  const text = plainLine(line)
  const [, word, id] = MARK.exec(text) ?? []
  if (id === undefined) {
    if (reading.openMessage !== null) addOpenText(reading, text)
    return []
  }
  reading.sessionId = id
  if (word !== 'Finished') {
    reading.openMessage = ''
    return []
  }
  const message = (reading.openMessage ?? '').trim()
  reading.openMessage = null
  reading.closed = 'success'
  if (message === '') return []
  setMessage(reading, message)
  return [{ kind: 'message', ts: now, text: message }]
}

/** Forge, from what is written of it: never run here. It has no option for access, and no events: only its answer. */
export const forge: Cli = {
  agent: 'forge',
  title: 'Forge',
  variable: 'FORGE_CLI_NAME',
  command: 'forge',
  localPath: '.forge/local/forge',
  variables: /^FORGE_(?!CLI_NAME$)\w+$/,
  efforts: [],
  models: ['forge'],
  session: /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
  stopSignal: 'SIGTERM',
  output: 'text',
  refuseAccess: (access) =>
    access === 'danger-full-access'
      ? undefined
      : 'Forge has no limits that could be set: it runs with full access only',
  args,
  readLine,
  judge: (reading, exit) => judgeByText('Forge', reading, exit),
}
