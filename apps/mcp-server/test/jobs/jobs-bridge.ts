import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  at,
  startMcpClient,
  tempDir,
  writeStandIn,
  type McpClientProcess,
} from '@codex-thread-bridge/test-fixtures'
import { mainPath } from '../run-bridge.ts'

export interface JobsPlace {
  readonly stateDir: string
  readonly work: string
  readonly home: string
  readonly standIn: string
  /** Flags of the command for this place, which no App Server serves. */
  readonly flags: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** The server as an MCP host starts it, by another command if need be. Closed with the place. */
  bridge(command?: readonly string[]): Promise<McpClientProcess>
}

/** A state directory, a work folder and stand-ins for the CLIs; removed afterwards, with the servers that were started. */
export const inJobsPlace = async (
  act: (place: JobsPlace) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const root = tempDir('jm')
  const folder = (name: string): string => {
    const path = join(root.path, name)
    mkdirSync(path, { mode: 0o700 })
    return path
  }
  const standIn = writeStandIn(root.path, 'stand-in')
  const home = folder('home')
  const flags = ['--profile', 'jobs', '--state-dir', folder('state'), '--socket', '/nowhere/app-server.sock']
  const place = {
    stateDir: join(root.path, 'state'),
    work: folder('work'),
    home,
    standIn,
    flags,
    env: { HOME: home, CODEX_CLI_NAME: standIn, CLAUDE_CLI_NAME: standIn, ...env },
  }
  const bridges: McpClientProcess[] = []
  try {
    await act({
      ...place,
      bridge: async ([command = process.execPath, ...before] = []) => {
        const bridge = await startMcpClient({
          command,
          args: [...before, mainPath, ...flags],
          env: place.env,
        })
        bridges.push(bridge)
        return bridge
      },
    })
  } finally {
    await Promise.all(bridges.map((bridge) => bridge.close()))
    await root.remove()
  }
}

/** run through MCP; its job_id. */
export const startJob = async (
  bridge: McpClientProcess,
  { work }: Pick<JobsPlace, 'work'>,
  prompt: string,
  more: object = {},
): Promise<string> => {
  const answer = await bridge.call('run', { workFolder: work, agent: 'codex', prompt, ...more })
  if (answer.isError) throw new Error(answer.text)
  return String(at(answer.structured, 'job_id'))
}

export const resultOf = async (bridge: McpClientProcess, jobId: string): Promise<unknown> =>
  (await bridge.call('get_result', { job_id: jobId })).structured
