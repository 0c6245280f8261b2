import type { JobEvent } from '../output/events.ts'
import { plainLine } from '../output/json-lines.ts'
import { addOpenText, setMessage, type Reading } from '../output/reading.ts'
import { judgeByText, type Cli, type RunRequest } from './cli.ts'

/** It ends by itself after this time; without a limit of ours, a day. */
const LONGEST_SECONDS = 86_400

const args = ({ sessionId, workFolder, timeoutMs }: RunRequest): readonly string[] => [
  '--dangerously-skip-permissions',
  '--add-dir',
  workFolder,
  ...(sessionId === undefined ? [] : ['--conversation', sessionId]),
  '--print-timeout',
  `${timeoutMs === undefined ? LONGEST_SECONDS : Math.ceil(timeoutMs / 1_000)}s`,
  '--print',
]

const readLine = (reading: Reading, line: string, now: string): readonly JobEvent[] => {
  const text = plainLine(line)
  if (text.trim() === '' || text.startsWith('Warning:')) return []
  addOpenText(reading, text)
  setMessage(reading, reading.openMessage ?? text)
  reading.closed = 'success'
  return [{ kind: 'message', ts: now, text }]
}

/** Antigravity (`agy`), from what is written of it: never run here. All that it prints is its answer. */
export const antigravity: Cli = {
  agent: 'antigravity',
  title: 'Antigravity',
  variable: 'ANTIGRAVITY_CLI_NAME',
  command: 'agy',
  variables: /^ANTIGRAVITY_(?!CLI_NAME$)\w+$/,
  efforts: [],
  models: ['antigravity'],
  session: /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/,
  stopSignal: 'SIGTERM',
  output: 'text',
  refuseAccess: (access) =>
    access === 'danger-full-access'
      ? undefined
      : 'Antigravity has no limits that could be set: it runs with full access only',
  args,
  readLine,
  judge: (reading, exit) => judgeByText('Antigravity', reading, exit),
}
