import { BridgeError, defineMutation, definePlugin, defineRead } from '@codex-thread-bridge/core/contract'
import { createHost, type Host, type HostOptions } from '@codex-thread-bridge/core/host'
import { receiptOutput } from '@codex-thread-bridge/core/ledger'
import { memoryLedger } from '@codex-thread-bridge/core/testing'
import { Type } from 'typebox'
import { stubAppServer } from './stub-app-server.ts'

const nothing = Type.Object({}, { additionalProperties: false })
const examples = [{ input: {}, answers: {} }]

const echo = defineRead({
  name: 'echo',
  title: 'Echo',
  description: 'Answers with its text and with who called.',
  input: Type.Object({ text: Type.String({ description: 'Any text.' }) }, { additionalProperties: false }),
  output: Type.Object({ text: Type.String(), caller: Type.Object({}) }),
  uses: [],
  examples: [{ input: { text: 'a' }, answers: {} }],
  run: async (ctx, { text }) => ({ text, caller: { ...ctx.caller } }),
})

const refuse = defineRead({
  name: 'refuse',
  title: 'Refuse',
  description: 'Cannot be carried out.',
  input: nothing,
  output: Type.Object({}),
  uses: [],
  examples,
  run: async () => {
    throw new BridgeError('invalid_cursor', 'No such page.', { field: 'cursor', details: { secret: 1 } })
  },
})

const crash = defineRead({
  name: 'crash',
  title: 'Crash',
  description: 'Has a bug.',
  input: nothing,
  output: Type.Object({}),
  uses: [],
  examples,
  run: async () => {
    throw new TypeError('the prompt was: launch')
  },
})

const report = defineRead({
  name: 'report',
  title: 'Report',
  description: 'Reports progress three times at once.',
  input: nothing,
  output: Type.Object({ reported: Type.Integer() }),
  uses: [],
  examples,
  run: async (ctx) => {
    for (const message of ['one', 'two', 'three']) ctx.progress(message)
    return { reported: 3 }
  },
})

/** What a test holds of a tool that waits: each call it got, and the end of all of them. */
export interface Gate {
  readonly entered: Promise<void>
  readonly enter: () => void
  readonly opened: Promise<void>
  readonly open: () => void
}

export const gate = (): Gate => {
  let enter = (): void => undefined
  let open = (): void => undefined
  const entered = new Promise<void>((resolve) => (enter = resolve))
  const opened = new Promise<void>((resolve) => (open = resolve))
  return { entered, enter, opened, open }
}

const wait = ({ enter, opened }: Gate) =>
  defineRead({
    name: 'wait',
    title: 'Wait',
    description: 'Waits for the gate or for its cancellation.',
    input: nothing,
    output: Type.Object({ ended: Type.String() }),
    uses: [],
    examples,
    run: async (ctx) => {
      const cancelled = new Promise<'cancelled'>((resolve) =>
        ctx.signal.addEventListener('abort', () => resolve('cancelled')),
      )
      enter()
      const ended = await Promise.race([opened.then(() => 'opened'), cancelled])
      if (ended === 'cancelled') ctx.log('warn', 'wait_cancelled')
      return { ended }
    },
  })

const act = ({ enter, opened }: Gate) =>
  defineMutation({
    name: 'act',
    title: 'Act',
    description: 'Acts on the world once the gate is open.',
    input: Type.Object(
      { request_id: Type.Optional(Type.String({ description: 'Of this one intention.' })) },
      { additionalProperties: false },
    ),
    output: receiptOutput({ acted: Type.Optional(Type.Boolean()) }),
    uses: [],
    examples,
    run: async (ctx) => {
      await ctx.step('act', async () => {
        enter()
        await opened
      })
      return { acted: true }
    },
  })

/** A real host with tools that need no App Server. */
export const testHost = async (door: Gate = gate(), options: Partial<HostOptions> = {}): Promise<Host> => {
  const host = createHost({ appServer: stubAppServer(), ledger: memoryLedger(), ...options })
  const tools = [echo, refuse, crash, report, wait(door), act(door)]
  host.register(definePlugin({ name: 'test', family: 'test', version: '0.0.0', tools }))
  await host.ready()
  return host
}
