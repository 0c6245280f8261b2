import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { BridgeError } from '../../src/contract/errors.ts'
import {
  defineMutation,
  definePlugin,
  defineRead,
  type Clock,
  type MutationContext,
} from '../../src/contract/tool.ts'
import { createHost, type HostOptions } from '../../src/host/host.ts'
import type { LedgerPort, LedgerRow } from '../../src/ledger/port.ts'
import { Receipt, receiptOutput } from '../../src/ledger/receipt.ts'
import type { Method } from '../../src/protocol/methods.ts'
import { cannedAppServer } from '../../src/testing/canned-app-server.ts'
import { memoryLedger, memoryStore } from '../../src/testing/memory-ledger.ts'
import { Value } from 'typebox/value'

type Run = (ctx: MutationContext<Method>) => Promise<Readonly<Record<string, unknown>>>

const closed = { additionalProperties: false } as const
const examples = [{ input: {}, answers: {} }]
const requestId = Type.Optional(Type.String({ description: 'id' }))

/** A host with one mutation `act` (and `act_on`, which names a thread) whose body the test writes. */
const hostOf = async (run: Run, options: Partial<HostOptions> = {}) => {
  const common = {
    title: 't',
    description: 'd',
    output: receiptOutput({}),
    uses: ['thread/name/set', 'thread/read'] as const,
    examples,
  }
  const host = createHost({
    appServer: cannedAppServer(answers),
    ledger: memoryLedger(),
    ...options,
  })
  host.register(
    definePlugin({
      name: 'p',
      family: 'test',
      version: '1',
      tools: [
        defineMutation({
          ...common,
          name: 'act',
          input: Type.Object({ request_id: requestId }, closed),
          run,
        }),
        defineMutation({
          ...common,
          name: 'act_on',
          input: Type.Object(
            { request_id: requestId, thread_id: Type.String({ description: 'thread' }) },
            closed,
          ),
          thread: (input) => input.thread_id,
          opening: (input) => ({ threadId: input.thread_id }),
          run,
        }),
      ],
    }),
  )
  await host.ready()
  const call = async (name: string, args: object, more?: Parameters<typeof host.call>[2]): Promise<Receipt> =>
    Value.Parse(Receipt, await host.call(name, args, more))
  return { host, call }
}

const answers = { 'thread/name/set': {} }
const start: Run = async (ctx) => {
  await ctx.call('thread/name/set', { threadId: 't', name: 'n' }, { record: () => ({ turnId: 'turn-1' }) })
  return {}
}

/** Something that the test opens when it likes. */
const gate = () => {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { opened, open }
}

/** A ledger whose writes fail from the nth one on, `failing` times. */
const failingLedger = (from: number, failing = Infinity): LedgerPort => {
  const ledger = memoryLedger()
  let writes = 0
  const full = new BridgeError('ledger_full', 'no space')
  const write =
    <A extends unknown[], R>(act: (...args: A) => R) =>
    (...args: A): R => {
      writes += 1
      if (writes >= from && writes < from + failing) throw full
      return act(...args)
    }
  return {
    ...ledger,
    claim: write((row: LedgerRow) => ledger.claim(row)),
    save: write((receipt: Receipt) => ledger.save(receipt)),
  }
}

const aborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('aborted'))))

/** Time that passes only in short sleeps; the call budget, a long one, never ends. */
const sleepingClock = (): Clock => {
  let now = 1_000_000
  return {
    now: () => now,
    sleep: async (ms, signal) => {
      if (ms > 1_000) return aborted(signal)
      await Promise.resolve()
      now += ms
    },
  }
}

describe('a mutation', () => {
  it('takes the caller’s request id, else the call’s identity, else a fresh one', async () => {
    let fresh = 0
    const { call } = await hostOf(start, { ids: () => `id-${(fresh += 1)}` })
    expect((await call('act', { request_id: 'mine' })).requestId).toBe('mine')
    const caller = { callIdentity: 'thread:turn:call' }
    const first = await call('act', {}, { caller })
    expect(first.requestId).toMatch(/^call-[0-9a-f]{32}$/)
    expect(await call('act', {}, { caller })).toEqual({ ...first, replayed: true })
    expect((await call('act', {})).requestId).toBe('once-id-1')
    expect((await call('act', {})).requestId).toBe('once-id-2')
  })

  it('keeps who called', async () => {
    const { call } = await hostOf(start)
    const caller = { threadId: 'thread-1', turnId: 'turn-1' }
    expect((await call('act', { request_id: 'r' }, { caller })).caller).toEqual(caller)
  })

  it('is joined by a second call with its id, which runs nothing', async () => {
    const { opened, open } = gate()
    let runs = 0
    const { call } = await hostOf(async (ctx) => {
      runs += 1
      await opened
      return start(ctx)
    })
    const calls = [1, 2].map(() => call('act', { request_id: 'r' }))
    open()
    const [one, two] = await Promise.all(calls)
    expect(runs).toBe(1)
    expect(two).toEqual({ ...one, replayed: true })
  })

  it('answers with its receipt so far at the end of the call budget, and goes on', async () => {
    const { opened, open } = gate()
    const { call, host } = await hostOf(
      async (ctx) => {
        await start(ctx)
        await opened
        return {}
      },
      { limits: { callMs: 20 } },
    )
    const soFar = await call('act', { request_id: 'r' })
    expect(soFar).toMatchObject({ status: 'in_progress_or_unknown', execution: 'running', turnId: 'turn-1' })
    const joined = call('act', { request_id: 'r' })
    open()
    expect(await joined).toMatchObject({ status: 'accepted', replayed: true })
    expect(await host.operations.get('r')).toMatchObject({ status: 'accepted', next: 'none' })
  })

  it('that is cancelled before its first step leaves no receipt', async () => {
    const controller = new AbortController()
    const { opened, open } = gate()
    const { call, host } = await hostOf(async (ctx) => {
      open()
      await ctx.clock.sleep(60_000, ctx.signal)
      return start(ctx)
    })
    const called = call('act', { request_id: 'r' }, { signal: controller.signal })
    await opened
    controller.abort()
    await expect(called).rejects.toMatchObject({ code: 'cancelled', next: 'same_request_id' })
    await expect(host.operations.get('r')).rejects.toMatchObject({ code: 'unknown_request' })
  })

  it('that is cancelled after its first step runs to its end', async () => {
    const controller = new AbortController()
    const { opened, open } = gate()
    const { call } = await hostOf(async (ctx) => {
      await start(ctx)
      controller.abort()
      open()
      return {}
    })
    const called = call('act', { request_id: 'r' }, { signal: controller.signal })
    await opened
    expect(await called).toMatchObject({ status: 'accepted' })
  })

  it('is given up only when every caller that waits for it has left', async () => {
    const [first, second] = [new AbortController(), new AbortController()]
    const { opened, open } = gate()
    const { call } = await hostOf(async (ctx) => {
      open()
      await ctx.clock.sleep(60_000, ctx.signal)
      return start(ctx)
    })
    const calls = [first, second].map(({ signal }) => call('act', { request_id: 'r' }, { signal }))
    await opened
    first.abort()
    const pending = await Promise.race([calls[1], Promise.resolve('still waiting')])
    expect(pending).toBe('still waiting')
    second.abort()
    for (const called of calls) await expect(called).rejects.toMatchObject({ code: 'cancelled' })
  })

  it('that cannot be claimed dispatches nothing and says why', async () => {
    const appServer = cannedAppServer(answers)
    const { call } = await hostOf(start, { appServer, ledger: failingLedger(1) })
    await expect(call('act', { request_id: 'r' })).rejects.toMatchObject({
      code: 'ledger_full',
      next: 'same_request_id',
    })
    expect([...appServer.called]).toEqual([])
  })

  it('whose first intent cannot be written dispatches nothing and leaves no row', async () => {
    const appServer = cannedAppServer(answers)
    const { call, host } = await hostOf(start, { appServer, ledger: failingLedger(2) })
    await expect(call('act', { request_id: 'r' })).rejects.toMatchObject({
      code: 'ledger_full',
      next: 'same_request_id',
    })
    expect([...appServer.called]).toEqual([])
    await expect(host.operations.get('r')).rejects.toMatchObject({ code: 'unknown_request' })
  })

  it('whose outcome cannot be written answers with all it knows and says that it is not kept', async () => {
    const log: unknown[] = []
    const { call } = await hostOf(start, {
      ledger: failingLedger(3),
      clock: sleepingClock(),
      log: (...line) => log.push(line),
    })
    expect(await call('act', { request_id: 'r' })).toMatchObject({
      status: 'accepted',
      turnId: 'turn-1',
      receiptPersisted: false,
    })
    expect(log).toContainEqual([
      'error',
      'receipt_not_saved',
      { requestId: 'r', code: 'ledger_full', message: 'no space' },
    ])
  })

  it('tries for 5 s to write an outcome', async () => {
    const { call, host } = await hostOf(start, { ledger: failingLedger(3, 20), clock: sleepingClock() })
    const receipt = await call('act', { request_id: 'r' })
    expect(receipt).toMatchObject({ status: 'accepted' })
    expect(receipt).not.toHaveProperty('receiptPersisted')
    expect(await host.operations.get('r')).toMatchObject({ status: 'accepted', turnId: 'turn-1' })
  })

  it('stops before a step whose intent cannot be written, and keeps what the first one made', async () => {
    const appServer = cannedAppServer(answers)
    let second = false
    const { call } = await hostOf(
      async (ctx) => {
        await start(ctx)
        await ctx.step('git worktree add', async () => (second = true))
        return {}
      },
      { appServer, ledger: failingLedger(3), clock: sleepingClock() },
    )
    expect(await call('act', { request_id: 'r' })).toMatchObject({
      status: 'failed',
      next: 'inspect',
      error: { code: 'ledger_full' },
      turnId: 'turn-1',
      receiptPersisted: false,
    })
    expect(second).toBe(false)
  })

  it('that throws by a bug after a step says so and asks to inspect', async () => {
    const { call } = await hostOf(async (ctx) => {
      await start(ctx)
      throw new TypeError('a bug')
    })
    expect(await call('act', { request_id: 'r' })).toMatchObject({
      status: 'failed',
      next: 'inspect',
      error: { code: 'internal' },
    })
  })

  it('may call only what it declares', async () => {
    const { call } = await hostOf(async (ctx) => {
      await ctx.call('thread/section/move', { threadId: 't', sectionId: null })
      return {}
    })
    expect(await call('act', { request_id: 'r' })).toMatchObject({
      status: 'failed',
      error: { code: 'undeclared_method' },
    })
  })
})

describe('two mutations on one thread', () => {
  it('run one after the other, in the order they came, across processes', async () => {
    const store = memoryStore()
    const { opened, open } = gate()
    const order: string[] = []
    const one = await hostOf(
      async () => {
        order.push('one begins')
        await opened
        order.push('one ends')
        return {}
      },
      { ledger: memoryLedger({ store }) },
    )
    const two = await hostOf(
      async () => {
        order.push('two begins')
        return {}
      },
      { ledger: memoryLedger({ store }) },
    )
    const first = one.call('act_on', { request_id: 'one', thread_id: 't' })
    const second = two.call('act_on', { request_id: 'two', thread_id: 't' })
    open()
    await Promise.all([first, second])
    expect(order).toEqual(['one begins', 'one ends', 'two begins'])
  })

  it('give up after 30 s of waiting, and leave no receipt', async () => {
    const ledger = memoryLedger()
    ledger.enqueue('t', 'somebody else')
    const { call, host } = await hostOf(start, { ledger, clock: sleepingClock() })
    const called = call('act_on', { request_id: 'r', thread_id: 't' })
    await expect(called).rejects.toMatchObject({ code: 'thread_claimed', next: 'same_request_id' })
    await expect(host.operations.get('r')).rejects.toMatchObject({ code: 'unknown_request' })
    expect(ledger.holder('t')).toBe('somebody else')
  })

  it('do not block a third one that was cancelled while it waited', async () => {
    const ledger = memoryLedger()
    ledger.enqueue('t', 'somebody else')
    const controller = new AbortController()
    const { call } = await hostOf(start, { ledger })
    const called = call('act_on', { request_id: 'r', thread_id: 't' }, { signal: controller.signal })
    controller.abort()
    await expect(called).rejects.toMatchObject({ code: 'cancelled' })
    ledger.dequeue('t', 'somebody else')
    expect(ledger.holder('t')).toBeUndefined()
  })
})

describe('a host', () => {
  const read = (name: string, uses: readonly Method[] = []) =>
    ({
      ...defineRead({
        name,
        title: 't',
        description: 'd',
        input: Type.Object({}, closed),
        output: Type.Object({}),
        uses: [],
        examples,
        run: async () => ({}),
      }),
      uses,
    }) as const
  const plugin = (name: string, ...tools: Parameters<typeof definePlugin>[0]['tools'][number][]) =>
    definePlugin({ name, family: 'test', version: '1', tools })
  const host = () => createHost({ appServer: cannedAppServer({}), ledger: memoryLedger() })

  it('refuses a tool name with two owners, naming both', () => {
    const both = host()
    both.register(plugin('one', read('look')))
    expect(() => both.register(plugin('two', read('look')))).toThrow(
      expect.objectContaining({ code: 'duplicate_tool', message: 'Both one and two have a tool look.' }),
    )
  })

  it('refuses a read that lists a method which changes something', () => {
    expect(() => host().register(plugin('p', read('look', ['turn/start'])))).toThrow(
      expect.objectContaining({ code: 'read_mutates' }),
    )
  })

  it('refuses a method that core/protocol does not have', () => {
    const unknown = JSON.parse('["thread/fly"]') as Method[]
    expect(() => host().register(plugin('p', read('look', unknown)))).toThrow(
      expect.objectContaining({ code: 'unknown_method' }),
    )
  })

  it('refuses calls before ready, registrations after it, and everything after close', async () => {
    const early = host()
    early.register(plugin('p', read('look')))
    await expect(early.call('look', {})).rejects.toMatchObject({ code: 'host_state' })
    await early.ready()
    expect(() => early.register(plugin('q', read('see')))).toThrow(
      expect.objectContaining({ code: 'host_state' }),
    )
    expect(await early.call('look', {})).toEqual({})
    await expect(early.call('fly', {})).rejects.toMatchObject({ code: 'unknown_tool' })
    await early.close()
    await expect(early.call('look', {})).rejects.toMatchObject({ code: 'host_state' })
  })

  it('ends a read that outlives the call budget, and gives its calls up', async () => {
    let given: AbortSignal | undefined
    const hanging = defineRead({
      name: 'hang',
      title: 't',
      description: 'd',
      input: Type.Object({}, closed),
      output: Type.Object({}),
      uses: [],
      examples,
      run: (ctx) => {
        given = ctx.signal
        return new Promise<never>(() => undefined)
      },
    })
    let now = 0
    const clock: Clock = { now: () => now, sleep: async (ms) => void (now += ms) }
    const slow = createHost({
      appServer: cannedAppServer({}),
      ledger: memoryLedger(),
      clock,
      limits: { callMs: 5_000 },
    })
    slow.register(plugin('p', hanging))
    await slow.ready()
    await expect(slow.call('hang', {})).rejects.toMatchObject({
      code: 'request_timeout',
      next: 'same_request_id',
    })
    expect([given?.aborted, now]).toEqual([true, 7_000])
  })

  it('closes its plugins in reverse order, once', async () => {
    const closed: string[] = []
    const closing = (name: string) => ({
      ...plugin(name),
      setup: (scope: { onClose(c: () => void): void }) => scope.onClose(() => closed.push(name)),
    })
    const both = host()
    both.register(closing('one'))
    both.register(closing('two'))
    await both.ready()
    await both.close()
    await both.close()
    expect(closed).toEqual(['two', 'one'])
  })

  it('tries again to open a ledger that could not be opened', async () => {
    let tries = 0
    const ledger = async (): Promise<LedgerPort> => {
      tries += 1
      if (tries === 1) throw new BridgeError('ledger_corrupt', 'damaged')
      return memoryLedger()
    }
    const { call } = await hostOf(start, { ledger })
    await expect(call('act', { request_id: 'r' })).rejects.toMatchObject({ code: 'ledger_corrupt' })
    expect(await call('act', { request_id: 'r' })).toMatchObject({ status: 'accepted' })
  })

  it('lets a running mutation save before it closes', async () => {
    const ledger = memoryLedger()
    const { opened, open } = gate()
    const { call, host: closing } = await hostOf(
      async (ctx) => {
        await start(ctx)
        await opened
        return {}
      },
      { ledger: { ...ledger, close: () => undefined } },
    )
    const called = call('act', { request_id: 'r' })
    const closedHost = closing.close()
    open()
    await closedHost
    expect((await called).status).toBe('accepted')
    expect(ledger.get('r')?.receipt.status).toBe('accepted')
  })
})
