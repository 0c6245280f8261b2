import { interleave, timed } from './support/interleave.ts'
import { ourServer, startMcpProcess, type McpProcess } from './support/mcp-process.ts'
import type { RawConnection } from './support/raw-connection.ts'
import { atMost, rowOf, type Row } from './support/row.ts'
import { onStage, runTurn, startThread, type Stage } from './support/stage.ts'

const THREADS = 40
const LISTED = 20
const TURNS = 10
const ROUNDS = { warmUp: 50, rounds: 300 }
const GOAL = atMost(1.5, 1)

/** A read through MCP against the same App Server calls without us. */
export const toolCall = (): Promise<readonly Row[]> =>
  onStage(async ({ world, socketPath, raw, stateDir }) => {
    const threadId = await fill(world, raw)
    const server = await startMcpProcess(ourServer(socketPath, stateDir))
    const rows = [await listThreads(server, raw), await readThread(server, raw, threadId)]
    await server.close()
    return rows
  })

const listThreads = async (server: McpProcess, raw: RawConnection): Promise<Row> => {
  const samples = await interleave(
    {
      ours: () => timed(() => server.callTool('list_threads', { limit: LISTED })),
      baseline: () => timed(() => raw.call('thread/list', { useStateDbOnly: true, limit: LISTED })),
    },
    ROUNDS,
  )
  return rowOf({ what: 'list_threads : thread/list', unit: 'ms', ...samples, goal: GOAL })
}

const readThread = async (server: McpProcess, raw: RawConnection, threadId: string): Promise<Row> => {
  const page = { threadId, limit: TURNS, itemsView: 'full', sortDirection: 'desc' }
  const samples = await interleave(
    {
      ours: () => timed(() => server.callTool('read_thread', { thread_id: threadId, limit: TURNS })),
      baseline: () =>
        timed(async () => {
          await raw.call('thread/read', { threadId })
          await raw.call('thread/turns/list', page)
        }),
    },
    ROUNDS,
  )
  return rowOf({ what: 'read_thread : thread/read + turns/list', unit: 'ms', ...samples, goal: GOAL })
}

/** Threads of one turn, and one of ten, whose id it is. */
const fill = async ({ cwd, model }: Stage['world'], raw: RawConnection): Promise<string> => {
  model.always({ text: 'All files are counted, and none is missing. '.repeat(10) })
  for (let made = 1; made < THREADS; made += 1)
    await runTurn(raw, await startThread(raw, cwd), `Count the files of folder ${String(made)}.`)
  const threadId = await startThread(raw, cwd)
  for (let turn = 1; turn <= TURNS; turn += 1)
    await runTurn(raw, threadId, `Count the files of part ${String(turn)}.`)
  return threadId
}
