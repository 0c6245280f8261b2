import { at, textAt } from '@codex-thread-bridge/test-fixtures'
import { interleave, timed } from './support/interleave.ts'
import { ourServer, startMcpProcess, type McpProcess } from './support/mcp-process.ts'
import { heard, type RawConnection } from './support/raw-connection.ts'
import { rowOf, type Row } from './support/row.ts'
import { onStage, runTurn, startThread, type Stage } from './support/stage.ts'

const TURNS = 200
const ANSWER = 'All files are counted. '.repeat(46_000)
/** The model is sent the whole context with each turn: without compaction that would be 20 GB. */
const COMPACT_EVERY = 4
const LIMIT = 10
const MOST = 100
const ROUNDS = { warmUp: 2, rounds: 10 }

interface Page {
  readonly what: string
  readonly limit: number
  readonly cursor?: string
  /** Whether a client that reads frames of up to 64 MiB gets it. */
  readonly bare: boolean
}

/** Pages of a thread with 200 MB of history: how long a read takes, and what it makes of our process. */
export const largeHistory = (): Promise<readonly Row[]> =>
  onStage(async (stage) => {
    const threadId = await fill(stage)
    const older = await cursorInTheMiddle(stage.raw, threadId)
    const pages: Page[] = [
      { what: 'newest 10 turns', limit: LIMIT, bare: true },
      { what: 'older 10 turns', limit: LIMIT, cursor: older, bare: true },
      { what: 'newest 100 turns', limit: MOST, bare: false },
    ]
    const rows: Row[] = []
    for (const page of pages) rows.push(...(await rowsOf(stage, threadId, page)))
    return rows
  })

/** The page in a process of its own, whose memory has no other history. */
const rowsOf = async (
  { socketPath, stateDir, raw }: Stage,
  threadId: string,
  page: Page,
): Promise<readonly Row[]> => {
  const server = await startMcpProcess(ourServer(socketPath, stateDir))
  await server.callTool('list_threads', {})
  const before = await server.memory()
  await throughMcp(server, threadId, page)
  const afterOne = await server.peakMemory()
  const { ours, baseline } = await interleave(
    {
      ours: () => timed(() => throughMcp(server, threadId, page)),
      baseline: () => (page.bare ? timed(() => bareCalls(raw, threadId, page)) : Promise.resolve(NaN)),
    },
    ROUNDS,
  )
  const afterAll = await server.peakMemory()
  await server.close()
  const { what } = page
  return [
    rowOf({ what: `200 MB, ${what}`, unit: 'ms', ours, ...(page.bare && { baseline }) }),
    rowOf({ what: `200 MB, ${what}: peak after one`, unit: 'MB', ours: [afterOne - before] }),
    rowOf({ what: `200 MB, ${what}: peak after 13`, unit: 'MB', ours: [afterAll - before] }),
  ]
}

const throughMcp = (server: McpProcess, threadId: string, { limit, cursor }: Page): Promise<unknown> =>
  server.callTool('read_thread', { thread_id: threadId, limit, ...(cursor !== undefined && { cursor }) })

const bareCalls = async (raw: RawConnection, threadId: string, { limit, cursor }: Page): Promise<void> => {
  await raw.call('thread/read', { threadId })
  await raw.call('thread/turns/list', {
    threadId,
    limit,
    itemsView: 'full',
    sortDirection: 'desc',
    ...(cursor !== undefined && { cursor }),
  })
}

const cursorInTheMiddle = async (raw: RawConnection, threadId: string): Promise<string> => {
  const newer = { threadId, limit: MOST, itemsView: 'notLoaded', sortDirection: 'desc' }
  return textAt(await raw.call('thread/turns/list', newer), 'nextCursor')
}

/** Turns with an answer of a megabyte each, with a compaction now and then. */
const fill = async ({ world, raw }: Stage): Promise<string> => {
  const threadId = await startThread(raw, world.cwd)
  for (let turn = 1; turn <= TURNS; turn += 1) {
    world.model.always({ text: ANSWER })
    await runTurn(raw, threadId, `Count the files of part ${String(turn)}.`)
    if (turn % COMPACT_EVERY !== 0) continue
    world.model.always({ text: 'Files were counted.' })
    const compacted = heard(
      raw,
      (method, params) => method === 'turn/completed' && at(params, 'threadId') === threadId,
    )
    await raw.call('thread/compact/start', { threadId })
    await compacted
  }
  return threadId
}
