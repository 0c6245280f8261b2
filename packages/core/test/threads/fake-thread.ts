import type { ServerInfo, ServerNotification } from '../../src/contract/app-server.ts'
import type { Clock } from '../../src/contract/tool.ts'
import type { Item, ThreadStatus, Turn } from '../../src/protocol/items.ts'
import type { Method, Params, Result } from '../../src/protocol/methods.ts'
import type { WatchContext } from '../../src/threads/waiter.ts'

export const threadId = 'thread-1'

export const turn = (id: string, members: Partial<Turn> = {}): Turn => ({
  id,
  status: 'inProgress',
  items: [],
  error: null,
  startedAt: 1_796_058_790,
  completedAt: null,
  ...members,
})
export const completed = (id: string): Turn => turn(id, { status: 'completed', completedAt: 1_796_058_799 })
/** A turn that a stopped server cut off, or one that just begins. */
export const cutOff = (id: string): Turn => turn(id, { status: 'interrupted' })

export const idle: ThreadStatus = { type: 'idle' }
export const active: ThreadStatus = { type: 'active', activeFlags: [] }

const aborts = new WeakMap<AbortSignal, Promise<never>>()

/** Rejects when the signal aborts; one listener a signal. */
const abortOf = (signal: AbortSignal): Promise<never> => {
  const known = aborts.get(signal)
  const abort =
    known ??
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  abort.catch(() => undefined)
  aborts.set(signal, abort)
  return abort
}

type Listener = (notification: ServerNotification) => void

export interface FakeThread {
  status: ThreadStatus
  turns: readonly Turn[]
  messages: Readonly<Record<string, readonly Item[]>>
  server: ServerInfo | undefined
  /** Thrown by every call while it is set. */
  fault: Error | undefined
  /** Awaited by every call before its answer, which is as old as the call, comes. */
  gate: Promise<void>
  readonly calls: readonly Method[]
  count(method: Method): number
  readonly listeners: number
  announce(status: ThreadStatus, id?: string): void
  lose(): void
  context(members?: Partial<WatchContext>): WatchContext & { readonly cancel: () => void }
}

/** One thread of a pretended App Server, as several calls at once see it. */
export const fakeThread = (clock: Clock): FakeThread => {
  const listeners = new Set<{ readonly notify: Listener; readonly lose: () => void }>()
  const calls: Method[] = []
  const thread: FakeThread = {
    status: active,
    turns: [],
    messages: {},
    server: undefined,
    fault: undefined,
    gate: Promise.resolve(),
    calls,
    count: (method: Method) => calls.filter((called) => called === method).length,
    get listeners() {
      return listeners.size
    },
    announce(status: ThreadStatus, id = threadId) {
      if (id === threadId) thread.status = status
      for (const { notify } of listeners)
        notify({ method: 'thread/status/changed', params: { threadId: id, status } })
    },
    lose() {
      for (const { lose } of listeners) lose()
    },
    context,
  }

  const answers: { [M in Method]?: (params: Params<M>) => Result<M> } = {
    'thread/read': () => ({ thread: { id: threadId, cwd: '/', status: thread.status } }),
    'thread/turns/list': ({ limit }) => ({ data: thread.turns.slice(0, limit), nextCursor: null }),
    'thread/items/list': ({ turnId }) => ({
      data: (thread.messages[turnId ?? ''] ?? []).map((item) => ({ item, turnId: turnId ?? '' })),
      nextCursor: null,
    }),
  }

  const call = async <M extends Method>(
    signal: AbortSignal,
    method: M,
    params: Params<M>,
  ): Promise<Result<M>> => {
    calls.push(method)
    const answer = answers[method]?.(params)
    await Promise.race([thread.gate, abortOf(signal)])
    if (thread.fault !== undefined) throw thread.fault
    if (answer === undefined) throw new Error(`nobody expects ${method}`)
    return answer
  }

  function context(members: Partial<WatchContext> = {}): ReturnType<FakeThread['context']> {
    const controller = new AbortController()
    const signal = controller.signal
    return {
      clock,
      deadline: clock.now() + 50_000,
      signal,
      progress: () => undefined,
      lastServer: () => thread.server,
      call: (method, params) => call(signal, method, params),
      observe: (notify, lose = () => undefined) => {
        const listener = { notify, lose }
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      cancel: () => controller.abort(),
      ...members,
    }
  }
  return thread
}
