import { fileURLToPath } from 'node:url'
import {
  at,
  listAt,
  poll,
  startMcpClient,
  startWorld,
  tempDir,
  textAt,
  type CodexVersion,
  type McpClientProcess,
  type RawClient,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import fc from 'fast-check'

const SERVER = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface CrowdOptions {
  readonly version: CodexVersion
  readonly bridges: number
  readonly requests: number
  readonly seed: number
}

/** One message of a client, which sends its messages one after the other. */
interface Send {
  readonly requestId: string
  readonly threadId: string
  readonly text: string
  /** Through which bridges it is sent at the same time. */
  readonly through: readonly number[]
}

/** What was found in the end; all lists but `orders` are empty when everything is as promised. */
export interface CrowdReport {
  readonly calls: number
  readonly ids: number
  /** Codes of the errors that callers saw. */
  readonly errors: readonly string[]
  /** Ids whose receipt is missing or not accepted. */
  readonly lost: readonly string[]
  /** Threads that one request id made more than one of, and texts that are not there exactly once. */
  readonly miscounted: readonly string[]
  /** Clients whose messages a thread has in another order. */
  readonly misordered: readonly string[]
  readonly seconds: number
}

const CLIENTS = 16
const THREADS = 8

/** What each client sends: as many calls as were asked for, most of them sharing their id with others. */
const plan = (options: CrowdOptions, threads: readonly string[]): Send[][] => {
  const draw = fc.sample(
    fc.record({
      thread: fc.nat(THREADS - 1),
      through: fc.array(fc.nat(options.bridges - 1), { minLength: 1, maxLength: 4 }),
    }),
    { seed: options.seed, numRuns: options.requests },
  )
  const clients: Send[][] = Array.from({ length: CLIENTS }, () => [])
  let calls = 0
  for (const [index, { thread, through }] of draw.entries()) {
    if (calls >= options.requests) break
    calls += through.length
    const client = index % CLIENTS
    clients[client]?.push({
      requestId: `request-${index}`,
      threadId: threads[thread] ?? '',
      text: `client ${client}, message ${index}`,
      through,
    })
  }
  return clients
}

/** Many bridge processes on one ledger, many clients, few threads: what came of it. */
export const crowd = async (options: CrowdOptions): Promise<CrowdReport> => {
  const state = tempDir('state')
  const world = await startWorld({ version: options.version })
  const bridges: McpClientProcess[] = []
  try {
    for (let n = 0; n < options.bridges; n += 1)
      bridges.push(
        await startMcpClient({
          command: process.execPath,
          args: [SERVER, '--socket', world.appServer.socketPath, '--state-dir', state.path],
        }),
      )
    return await meet(options, world, bridges)
  } finally {
    await Promise.all(bridges.map((bridge) => bridge.close()))
    await world.close()
    await state.remove()
  }
}

const meet = async (
  options: CrowdOptions,
  world: World,
  bridges: readonly McpClientProcess[],
): Promise<CrowdReport> => {
  const client = await world.openClient()
  const errors: string[] = []
  const threads = await Promise.all(
    Array.from({ length: THREADS }, (_, n) => createOnce(bridges, `thread-${n}`, world.cwd, errors)),
  )
  const made = client.notifications.filter(({ method }) => method === 'thread/started')
  const clients = plan(options, threads)
  const sends = clients.flat()
  const began = performance.now()
  await Promise.all(
    clients.map(async (own) => {
      for (const send of own) await sendOnce(bridges, send, errors)
    }),
  )
  const seconds = (performance.now() - began) / 1_000
  const lost: string[] = []
  for (const [index, { requestId }] of sends.entries()) {
    const bridge = bridges[index % bridges.length]
    const { structured } = (await bridge?.call('get_operation', { request_id: requestId })) ?? {}
    if (structured?.status !== 'accepted') lost.push(`${requestId}: ${String(structured?.status)}`)
  }
  const kept = new Map<string, readonly string[]>()
  for (const threadId of threads) kept.set(threadId, await textsOf(client, threadId))
  const all = [...kept.values()].flat()
  return {
    calls: sends.reduce((sum, { through }) => sum + through.length, 0),
    ids: sends.length,
    errors,
    lost,
    miscounted: [
      ...(made.length === THREADS ? [] : [`${made.length} threads`]),
      ...sends.map(({ text }) => text).filter((text) => all.filter((one) => one === text).length !== 1),
    ],
    misordered: threads.flatMap((threadId) =>
      clients.flatMap((own) => misorder(own, threadId, kept.get(threadId) ?? [])),
    ),
    seconds,
  }
}

/** The same creation through every bridge at once; the id of the thread. */
const createOnce = async (
  bridges: readonly McpClientProcess[],
  requestId: string,
  cwd: string,
  errors: string[],
): Promise<string> => {
  const args = { request_id: requestId, cwd }
  const answers = await Promise.all(bridges.map((bridge) => bridge.call('create_thread', args)))
  for (const answer of answers)
    if (answer.isError) errors.push(`${requestId}: ${answer.error?.code ?? answer.text}`)
  return textAt(answers.find(({ structured }) => structured?.status === 'accepted')?.structured, 'threadId')
}

/** The same message through several bridges at once, and then the end of it. */
const sendOnce = async (
  bridges: readonly McpClientProcess[],
  send: Send,
  errors: string[],
): Promise<void> => {
  const args = { request_id: send.requestId, thread_id: send.threadId, message: send.text, if_busy: 'queue' }
  const answers = await Promise.all(
    send.through.map(async (n) => bridges[n]?.call('send_message_to_thread', args, { timeoutMs: 120_000 })),
  )
  for (const answer of answers)
    if (answer?.isError !== false) errors.push(`${send.requestId}: ${answer?.error?.code ?? answer?.text}`)
  // Another process answers at once, as it stands; the next message waits for the end of this one.
  await poll(
    async () => {
      const found = await bridges[send.through[0] ?? 0]?.call('get_operation', { request_id: send.requestId })
      return found?.structured?.status !== 'in_progress_or_unknown'
    },
    { what: `the end of ${send.requestId}`, timeoutMs: 120_000, every: 50 },
  )
}

/** The first message of a client that is behind a later one of its own. */
const misorder = (own: readonly Send[], threadId: string, kept: readonly string[]): string[] => {
  const places = own
    .filter((send) => send.threadId === threadId)
    .map(({ text }) => ({ text, place: kept.indexOf(text) }))
  const wrong = places.find(({ place }, n) => place < (places[n - 1]?.place ?? -1))
  return wrong === undefined ? [] : [wrong.text]
}

/** The thread's user messages in order, once its queue has run empty. */
const textsOf = async (client: RawClient, threadId: string): Promise<readonly string[]> => {
  await client.call('thread/resume', { threadId, excludeTurns: true })
  let looks = 0
  await poll(
    async () => {
      const status = at(await client.call('thread/read', { threadId }), 'thread.status.type')
      const queue = listAt(await client.call('thread/queue/list', { threadId }), 'data')
      looks = status !== 'active' && queue.length === 0 ? looks + 1 : 0
      return looks >= 3
    },
    { what: `thread ${threadId} to be quiet`, timeoutMs: 120_000, every: 25 },
  )
  const texts: string[] = []
  for (let cursor: unknown; ;) {
    const page = await client.call('thread/items/list', {
      threadId,
      limit: 100,
      sortDirection: 'asc',
      ...(typeof cursor === 'string' ? { cursor } : {}),
    })
    for (const entry of listAt(page, 'data'))
      if (at(entry, 'item.type') === 'userMessage') texts.push(textAt(entry, 'item.content.0.text'))
    cursor = at(page, 'nextCursor')
    if (typeof cursor !== 'string') return texts
  }
}
