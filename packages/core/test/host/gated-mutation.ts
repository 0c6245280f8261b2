import { Type } from 'typebox'
import { Value } from 'typebox/value'
import {
  defineMutation,
  definePlugin,
  type Caller,
  type Example,
  type MutationContext,
} from '../../src/contract/tool.ts'
import { createHost } from '../../src/host/host.ts'
import { Receipt, receiptOutput } from '../../src/ledger/receipt.ts'
import { openCeiling, type Ceiling } from '../../src/policy/ceiling.ts'
import type { Method, Params } from '../../src/protocol/methods.ts'
import { cannedAppServer } from '../../src/testing/canned-app-server.ts'
import { memoryLedger } from '../../src/testing/memory-ledger.ts'

export type Body = (ctx: MutationContext<Method>) => Promise<unknown>

export const readOnly = { type: 'readOnly', networkAccess: false }
export const full = { type: 'dangerFullAccess' }
export const workspaceWrite = (members: object = {}) => ({
  type: 'workspaceWrite',
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: false,
  ...members,
})

export const ID = '01a22d6c-ee00-7d30-84f1-a4cd16c32862'
export const environment = (sandbox: object, members: object = {}) => ({
  thread: { id: ID, cwd: '/', status: { type: 'idle' } },
  cwd: '/',
  model: 'm',
  approvalPolicy: 'never',
  sandbox,
  ...members,
})
export const input = [{ type: 'text' as const, text: 'hello' }]
const turn = { id: 'turn-1', status: 'inProgress', items: [] }
const feeding = {
  'turn/start': { turn },
  'turn/steer': { turnId: 'turn-1' },
  'thread/queue/add': { queuedSubmission: { id: 'q', clientUserMessageId: '' } },
}

interface Setting {
  readonly answers?: Example['answers']
  readonly ceiling?: Partial<Ceiling>
  readonly caller?: Caller
}

/** One mutation with this body, run once: its receipt or its error's code, and what reached the App Server. */
export const run = async (body: Body, { answers = {}, ceiling = {}, caller = {} }: Setting = {}) => {
  const appServer = cannedAppServer({ ...feeding, ...answers })
  const ledger = memoryLedger()
  const host = createHost({ appServer, ledger, policy: { ceiling: { ...openCeiling, ...ceiling } } })
  const act = defineMutation({
    name: 'act',
    title: 't',
    description: 'd',
    input: Type.Object({}, { additionalProperties: false }),
    output: receiptOutput({}),
    uses: [
      'thread/start',
      'thread/resume',
      'thread/settings/update',
      'turn/start',
      'turn/steer',
      'thread/queue/add',
    ],
    examples: [{ input: {}, answers: {} }],
    run: async (ctx) => {
      await body(ctx)
      return {}
    },
  })
  host.register(definePlugin({ name: 'p', family: 'test', version: '1', tools: [act] }))
  await host.ready()
  const outcome: unknown = await host.call('act', {}, { caller }).catch((error: unknown) => error)
  const rows = ledger.counts().operations
  return { outcome, called: [...appServer.called], rows }
}
export const receiptOf = (outcome: unknown) => Value.Parse(Receipt, outcome)

export const start =
  (params: Partial<Params<'thread/start'>>): Body =>
  (ctx) =>
    ctx.call('thread/start', { cwd: '/', approvalPolicy: 'never', ephemeral: false, ...params })
export const resume: Body = (ctx) => ctx.call('thread/resume', { threadId: ID, excludeTurns: true })
export const startTurn =
  (params: Partial<Params<'turn/start'>> = {}): Body =>
  (ctx) =>
    ctx.call('turn/start', { threadId: ID, input, ...params })
export const inOrder =
  (...bodies: readonly Body[]): Body =>
  async (ctx) => {
    for (const body of bodies) await body(ctx)
  }
