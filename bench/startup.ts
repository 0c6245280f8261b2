import { tempDir } from '@codex-thread-bridge/test-fixtures'
import { interleave } from './support/interleave.ts'
import { bareSdkServer, ourServer, startMcpProcess, type Command } from './support/mcp-process.ts'
import { atMost, rowOf, type Row } from './support/row.ts'

const ROUNDS = { warmUp: 2, rounds: 25 }

/** From the start of the process to its answer to tools/list. Needs no App Server: we connect at the first call. */
export const startup = async (): Promise<readonly Row[]> => {
  const state = tempDir('state')
  const samples = await interleave(
    {
      ours: () => startToList(ourServer('/nowhere.sock', state.path)),
      baseline: () => startToList(bareSdkServer),
    },
    ROUNDS,
  )
  await state.remove()
  return [rowOf({ what: 'start to tools/list : bare SDK server', unit: 'ms', ...samples, goal: atMost(1.4) })]
}

const startToList = async (command: Command): Promise<number> => {
  const begin = performance.now()
  const server = await startMcpProcess(command)
  await server.ask('tools/list')
  const ms = performance.now() - begin
  await server.close()
  return ms
}
