import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { BridgeError, TransportError } from '../../src/contract/errors.ts'
import {
  defineMutation,
  definePlugin,
  defineRead,
  type Example,
  type Plugin,
} from '../../src/contract/tool.ts'
import { receiptOutput, type Receipt } from '../../src/ledger/receipt.ts'
import { testPlugin, type TestPluginOptions } from '../../src/testing/test-plugin.ts'

const id = Type.String({ maxLength: 128, description: 'Id of the thread (at most 128 characters)' })
const closed = { additionalProperties: false } as const
const thread = { id: 'thread-1', cwd: '/', status: { type: 'idle' } }
const answers = { 'thread/read': { thread } }
const resumed = {
  thread,
  cwd: '/',
  model: 'gpt-5.5',
  approvalPolicy: 'never',
  sandbox: { type: 'readOnly', networkAccess: false },
}

const read = defineRead({
  name: 'read_status',
  title: 'Read a status',
  description: 'Reads the status of a thread.',
  input: Type.Object({ thread_id: id }, closed),
  output: Type.Object({ status: Type.String() }),
  uses: ['thread/read'],
  examples: [{ input: { thread_id: 'thread-1' }, answers }],
  run: async (ctx, input) => ({
    status: (await ctx.call('thread/read', { threadId: input.thread_id })).thread.status.type,
  }),
})

const send = defineMutation({
  name: 'send_text',
  title: 'Send a text',
  description: 'Sends a text.',
  input: Type.Object({ thread_id: id }, closed),
  output: receiptOutput({ seen: Type.Optional(Type.Boolean()) }),
  uses: ['thread/resume', 'turn/start', 'thread/items/list'],
  examples: [
    {
      input: { thread_id: 'thread-1' },
      answers: {
        'thread/resume': resumed,
        'turn/start': { turn: { id: 'turn-1', status: 'inProgress', items: [] } },
        'thread/items/list': {
          data: [{ turnId: 'turn-1', item: { type: 'userMessage', id: 'item-1', clientId: '{marker}' } }],
        },
      },
    },
  ],
  async run(ctx, input) {
    await ctx.call('thread/resume', { threadId: input.thread_id, excludeTurns: true })
    await ctx.call('turn/start', { threadId: input.thread_id, input: [{ type: 'text', text: 'hello' }] })
    const { data } = await ctx.call('thread/items/list', { threadId: input.thread_id })
    const seen = data[0]?.item.clientId === ctx.receipt.marker
    if (!seen) throw new BridgeError('internal', 'the marker is not there')
    return { seen }
  },
})

const plugin = (tools: Plugin['tools']) =>
  definePlugin({ name: 'example', family: 'test', version: '1.0.0', tools })
const withExamples = (...examples: readonly Example[]) => ({ ...read, examples })

/** The names of the tests that the suite makes and of those that fail. */
const suite = async (subject: Parameters<typeof testPlugin>[0], options?: TestPluginOptions) => {
  const tests: { readonly name: string; readonly run: () => void | Promise<void> }[] = []
  testPlugin(subject, (name, run) => tests.push({ name, run }), options)
  const failed: string[] = []
  for (const { name, run } of tests) {
    try {
      await run()
    } catch {
      failed.push(name)
    }
  }
  return { names: tests.map(({ name }) => name), failed }
}

const example = 'read_status answers its examples as its output says, calling what it declares'

describe('testPlugin', () => {
  it('accepts a plugin that keeps the contract', async () => {
    expect(await suite(plugin([read, send]))).toEqual({
      failed: [],
      names: [
        'plugin example has tools with unique names',
        'read_status passes the schema gate',
        'read_status describes itself in one paragraph and its fields with their bounds',
        'read_status has the annotations of a read',
        'read_status refuses an unknown argument and names it',
        example,
        'send_text passes the schema gate',
        'send_text describes itself in one paragraph and its fields with their bounds',
        'send_text has the annotations of a mutation',
        'send_text refuses an unknown argument and names it',
        'send_text answers its examples as its output says, calling what it declares',
      ],
    })
  })

  it('takes a plugin that is made for its host', async () => {
    expect(
      await suite((host) => plugin(host.operations.describe().plugins.length === 0 ? [read] : [])),
    ).toMatchObject({
      failed: [],
    })
  })

  it('puts receipts into the ledger before an example', async () => {
    const receipt: Receipt = {
      requestId: 'request-1',
      operation: 'other',
      status: 'accepted',
      startedAt: 1,
      updatedAt: 1,
      retrySafe: false,
      next: 'none',
      steps: [],
    }
    const get = (operations: { get(id: string): Promise<unknown> }) =>
      plugin([
        {
          ...withExamples({ input: { thread_id: 'thread-1' }, answers: {} }),
          uses: [],
          run: async () => ({ status: (await operations.get('request-1')) === undefined ? '' : 'kept' }),
        },
      ])
    expect(await suite((host) => get(host.operations), { receipts: [receipt] })).toMatchObject({ failed: [] })
    expect(await suite((host) => get(host.operations))).toMatchObject({ failed: [example] })
  })

  it.each([
    [
      'an answer that is no result of its method',
      withExamples({ ...read.examples[0], input: { thread_id: 'x' }, answers: { 'thread/read': {} } }),
    ],
    ['a method without an answer', withExamples({ input: { thread_id: 'x' }, answers: {} })],
    ['a declared method that no example calls', { ...read, uses: ['thread/read', 'thread/list'] } as const],
    ['a method that is not declared', { ...read, uses: [] }],
    ['an output that its schema does not allow', { ...read, run: async () => ({ status: 1 }) }],
    [
      'an error code that does not exist',
      withExamples({
        input: { thread_id: 'x' },
        answers: { 'thread/read': { error: { code: 'no', message: '' } } },
      }),
    ],
  ])('finds %s', async (_, tool) => {
    expect(await suite(plugin([tool as Plugin['tools'][number]]))).toMatchObject({ failed: [example] })
  })

  it('finds an open input, an untold bound and two tools of one name', async () => {
    const open = { ...read, input: Type.Object({ thread_id: id }) }
    expect((await suite(plugin([open]))).failed).toContain('read_status passes the schema gate')
    const untold = {
      ...read,
      input: Type.Object({ thread_id: Type.String({ maxLength: 128, description: 'Id' }) }, closed),
    }
    expect(await suite(plugin([untold as typeof read]))).toMatchObject({
      failed: ['read_status describes itself in one paragraph and its fields with their bounds'],
    })
    expect((await suite(plugin([read, read]))).failed).toContain('plugin example has tools with unique names')
  })

  it('plays answers in order and refusals as the App Server’s errors', async () => {
    const codes: string[] = []
    const tool = {
      ...withExamples({
        input: { thread_id: 'x' },
        answers: {
          'thread/read': { each: [{ error: { code: 'thread_not_found', message: 'no' } }, { thread }] },
        },
      }),
      run: async (ctx: Parameters<typeof read.run>[0]) => {
        for (const _ of [1, 2, 3])
          codes.push(
            await ctx.call('thread/read', { threadId: 'x' }).then(
              () => 'answered',
              (error: unknown) => (BridgeError.is(error) && !TransportError.is(error) ? error.code : 'other'),
            ),
          )
        return { status: 'done' }
      },
    }
    expect(await suite(plugin([tool as typeof read]))).toMatchObject({ failed: [] })
    expect(codes).toEqual(['thread_not_found', 'answered', 'answered'])
  })
})
