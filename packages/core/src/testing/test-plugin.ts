import assert from 'node:assert/strict'
import type { TObject } from 'typebox'
import { Compile } from 'typebox/compile'
import { BridgeError } from '../contract/errors.ts'
import { annotationsOf } from '../contract/manifest.ts'
import { checkSchemaGate } from '../contract/schema-gate.ts'
import type { AnyTool, Example, Plugin } from '../contract/tool.ts'
import { createHost, type Host } from '../host/host.ts'
import type { Receipt } from '../ledger/receipt.ts'
import type { Method } from '../protocol/methods.ts'
import { cannedAppServer, type CannedAppServer } from './canned-app-server.ts'
import { memoryLedger } from './memory-ledger.ts'

/** A plugin, or what makes one for a host. */
export type PluginUnderTest = Plugin | ((host: Host) => Plugin)

/** `it` or `test` of vitest, node:test, mocha, jest. */
export type It = (name: string, test: () => void | Promise<void>) => unknown

export interface TestPluginOptions {
  /** What the ledger holds before each example. */
  readonly receipts?: readonly Receipt[]
  /** By tool: examples that hold on this machine (its paths, for one), played instead of the documentation's. */
  readonly examples?: Readonly<Record<string, readonly Example[]>>
}

const BOUNDS = ['minimum', 'maximum', 'maxLength', 'maxItems'] as const

/**
 * The contract suite of a plugin: schema gate, annotations, names, closed inputs, told bounds, and every example played
 * through a real host: the answer matches the tool's output, and the examples together call exactly what `uses` lists.
 */
export const testPlugin = (subject: PluginUnderTest, it: It, options: TestPluginOptions = {}): void => {
  const play = async <T>(
    example: Example,
    act: (host: Host, appServer: CannedAppServer) => Promise<T>,
  ): Promise<T> => {
    const appServer = cannedAppServer(example.answers)
    const host = createHost({ appServer, ledger: seeded(options.receipts ?? []) })
    host.register(typeof subject === 'function' ? subject(host) : subject)
    await host.ready()
    return act(host, appServer).finally(() => host.close())
  }
  const { name, tools } = pluginOf(subject)
  const examplesOf = (tool: AnyTool): readonly Example[] => options.examples?.[tool.name] ?? tool.examples

  it(`plugin ${name} has tools with unique names`, () => {
    const names = tools.map((tool) => tool.name)
    assert.deepEqual(names, [...new Set(names)])
  })

  for (const tool of tools) {
    it(`${tool.name} passes the schema gate`, () => checkSchemaGate(tool))

    it(`${tool.name} describes itself in one paragraph and its fields with their bounds`, () => {
      assert.doesNotMatch(tool.description, /\n/)
      assert.deepEqual(untoldBounds(tool.input), [])
    })

    it(`${tool.name} has the annotations of a ${tool.kind}`, () => {
      const { readOnlyHint, destructiveHint, idempotentHint } = annotationsOf(tool)
      const repeatable = tool.kind === 'read' || 'request_id' in tool.input.properties
      assert.deepEqual(
        [readOnlyHint, destructiveHint, idempotentHint],
        [tool.kind === 'read', tool.kind !== 'read', repeatable],
      )
    })

    it(`${tool.name} refuses an unknown argument and names it`, () =>
      play({ input: {}, answers: {} }, async (host) => {
        const input = { ...examplesOf(tool)[0]?.input, no_such_argument: true }
        await assert.rejects(host.call(tool.name, input), (error) => {
          assert(BridgeError.is(error), String(error))
          assert.deepEqual([error.code, error.field], ['invalid_arguments', 'no_such_argument'])
          return true
        })
      }))

    it(`${tool.name} answers its examples as its output says, calling what it declares`, async () => {
      const called = new Set<Method>()
      for (const example of examplesOf(tool)) {
        const appServer = await play(example, async (host, canned) => {
          assertMatches(tool, await host.call(tool.name, example.input))
          return canned
        })
        // After the end: a mutation may have answered before it.
        assert.deepEqual(appServer.faults, [])
        appServer.called.forEach((method) => called.add(method))
      }
      assert.deepEqual(
        [...called].sort(),
        [...tool.uses].sort(),
        'methods that the examples call, and `uses`',
      )
    })
  }
}

const pluginOf = (subject: PluginUnderTest): Plugin =>
  typeof subject === 'function'
    ? subject(createHost({ appServer: cannedAppServer({}), ledger: memoryLedger() }))
    : subject

const seeded = (receipts: readonly Receipt[]) => {
  const ledger = memoryLedger()
  for (const receipt of receipts) ledger.claim({ fingerprint: '', receipt })
  return ledger
}

const assertMatches = (tool: AnyTool, answer: unknown): void => {
  const output = Compile(tool.output)
  const faults = output.Errors(answer).map(({ instancePath, message }) => `${instancePath} ${message}`)
  assert.deepEqual(faults, [], `${tool.name} answered ${JSON.stringify(answer)}`)
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Bounds of top-level fields that their description does not tell: some hosts show only that. */
const untoldBounds = (input: TObject): readonly string[] =>
  Object.entries(input.properties).flatMap(([field, schema]) => {
    const members: unknown = schema
    if (!isRecord(members)) return []
    const told = String(members.description)
    return BOUNDS.filter((bound) => {
      const value = members[bound]
      return (
        typeof value === 'number' &&
        !told.includes(String(value)) &&
        !told.includes(value.toLocaleString('en-US'))
      )
    }).map((bound) => `${field}.${bound}`)
  })
