import { setTimeout as sleep } from 'node:timers/promises'
import { interleave } from './support/interleave.ts'
import { bareSdkServer, ourServer, startMcpProcess, type Command } from './support/mcp-process.ts'
import { rowOf, type Row } from './support/row.ts'
import { onStage, runTurn, startThread } from './support/stage.ts'

const ROUNDS = { warmUp: 0, rounds: 5 }
const IDLE_MS = 1_000

/** Resident memory of an idle server that has listed its tools and answered one call. */
export const memory = (): Promise<readonly Row[]> =>
  onStage(async ({ world, socketPath, raw, stateDir }) => {
    await runTurn(raw, await startThread(raw, world.cwd), 'Count the files.')
    const samples = await interleave(
      {
        ours: () => idleMemory(ourServer(socketPath, stateDir), 'list_threads'),
        baseline: () => idleMemory(bareSdkServer, 'tool_0'),
      },
      ROUNDS,
    )
    return [rowOf({ what: 'idle memory : bare SDK server', unit: 'MB', ...samples })]
  })

const idleMemory = async (command: Command, tool: string): Promise<number> => {
  const server = await startMcpProcess(command)
  await server.ask('tools/list')
  await server.callTool(tool, {})
  await sleep(IDLE_MS)
  const mb = await server.memory()
  await server.close()
  return mb
}
