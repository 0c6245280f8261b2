import { Type } from 'typebox'
import { describe, expect, it } from 'vitest'
import { defineMutation, definePlugin, type MutationContext } from '../../src/contract/tool.ts'
import { createHost } from '../../src/host/host.ts'
import { receiptOutput } from '../../src/ledger/receipt.ts'
import { cannedAppServer } from '../../src/testing/canned-app-server.ts'
import { memoryLedger } from '../../src/testing/memory-ledger.ts'
import { fakeClock, settled } from '../threads/fake-clock.ts'

const closed = { additionalProperties: false } as const
const description = 'd'

/** A host whose mutation `act` claims the thread it is given and then waits until it is released. */
const hostOf = async () => {
  const clock = fakeClock()
  const released: (() => void)[] = []
  const begun: string[] = []
  const host = createHost({ appServer: cannedAppServer({}), ledger: memoryLedger(), clock })
  const run = async (ctx: MutationContext<never>, input: { request_id: string }) => {
    await ctx.claimThread('thread-1')
    begun.push(input.request_id)
    await ctx.step('wait', () => new Promise<void>((resolve) => released.push(resolve)))
    return { done: true }
  }
  host.register(
    definePlugin({
      name: 'p',
      family: 'test',
      version: '1',
      tools: [
        defineMutation({
          name: 'act',
          title: 't',
          description,
          input: Type.Object({ request_id: Type.String({ description }) }, closed),
          output: receiptOutput({}),
          uses: [],
          examples: [{ input: {}, answers: {} }],
          answerWithinMs: 5_000,
          run,
        }),
      ],
    }),
  )
  await host.ready()
  return { host, clock, begun, release: () => released.shift()?.() }
}

describe('a mutation that may answer before its end', () => {
  it('answers with the receipt so far when its time is over, and goes on', async () => {
    const { host, clock, release } = await hostOf()
    const answer = host.call('act', { request_id: 'a' })
    await clock.advance(4_999)
    const early = await Promise.race([answer, settled().then(() => 'not yet')])
    expect(early).toBe('not yet')
    await clock.advance(1)
    expect(await answer).toMatchObject({
      requestId: 'a',
      execution: 'running',
      status: 'in_progress_or_unknown',
      steps: [{ name: 'wait', state: 'intended' }],
    })
    release()
    await settled()
    expect(await host.operations.get('a')).toMatchObject({ status: 'accepted', done: true })
    await host.close()
  })

  it('answers with its end when that comes first', async () => {
    const { host, release } = await hostOf()
    const answer = host.call('act', { request_id: 'a' })
    await settled()
    release()
    expect(await answer).toMatchObject({ status: 'accepted', done: true })
    await host.close()
  })
})

describe('a thread that a tool claims itself', () => {
  it('is acted on by one call at a time', async () => {
    const { host, clock, begun, release } = await hostOf()
    const answers = ['a', 'b'].map((id) => host.call('act', { request_id: id }))
    await clock.advance(200)
    expect(begun).toEqual(['a'])
    release()
    await clock.advance(200)
    expect(begun).toEqual(['a', 'b'])
    release()
    expect(await Promise.all(answers)).toMatchObject([{ status: 'accepted' }, { status: 'accepted' }])
    await host.close()
  })
})
