import type { AnyTool } from '@codex-thread-bridge/core/contract'
import { isObject } from '@codex-thread-bridge/test-fixtures'
import fc from 'fast-check'

/** A tool's arguments that may be anything. */
export interface Sample {
  /** Its name. */
  readonly tool: string
  readonly args: unknown
  /** How a counterexample is told. */
  readonly [fc.toStringMethod]: () => string
}

const SHOWN = 1_000
/** Arguments come as JSON. */
const sample = (tool: AnyTool, args: unknown): Sample => ({
  tool: tool.name,
  args: args === undefined ? undefined : JSON.parse(JSON.stringify(args) ?? 'null'),
  [fc.toStringMethod]: () => `${tool.name} ${shown(args)}`,
})

/** fast-check's own writer does not reach the ground of what is nested deeply. */
const shown = (args: unknown): string => {
  try {
    return fc.stringify(args).slice(0, SHOWN)
  } catch {
    return 'with something very deep'
  }
}

/** Names that mean something to JavaScript, to JSON or to other tools. */
const keys = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'prototype',
    'then',
    '',
    'a/b',
    'a~b',
    'a.b',
    'threadId',
    'timeout_seconds',
    'cwd',
    'request_id',
    'type',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
)

const oddTexts = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '\t\n\r',
    '\u00a0\u2003',
    '\u200b',
    '\u0000',
    '\ud800',
    '\udfff x',
    '\ufeff',
    '{"a":1}',
    '[]',
    'null',
    '1e999',
    '../..',
    '/',
    '~',
    '//host/share',
    '/proc/self/cwd',
  ),
  fc.string({ unit: 'grapheme', maxLength: 40 }),
  fc.string({ unit: 'binary', maxLength: 40 }),
)

/** A text of about so many code points as a schema allows. */
const atBound = (limit: number): fc.Arbitrary<string> =>
  fc
    .record({
      unit: fc.constantFrom('a', 'é', '😀', '\u0301', '👨‍👩‍👧', ' '),
      off: fc.integer({ min: -1, max: 1 }),
    })
    .map(({ unit, off }) => {
      const points = [...unit]
      const whole = unit.repeat(Math.ceil((limit + off) / points.length))
      return [...whole].slice(0, Math.max(0, limit + off)).join('')
    })

const numbers = fc.oneof(
  fc.constantFrom(
    0,
    -0,
    1,
    -1,
    0.5,
    50,
    50.000001,
    100,
    101,
    99,
    20_000,
    20_001,
    1e21,
    5e-324,
    NaN,
    Infinity,
  ),
  fc.double(),
  fc.integer(),
)

const deep = fc
  .record({ depth: fc.constantFrom(1, 10, 200, 3_000), array: fc.boolean() })
  .map(({ depth, array }) => {
    let value: unknown = 'deep'
    for (let level = 0; level < depth; level += 1) value = array ? [value] : { a: value }
    return value
  })

const junk: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: oddTexts },
  { weight: 3, arbitrary: numbers },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [null], [[]], undefined) },
  { weight: 2, arbitrary: fc.anything({ key: keys, maxDepth: 3, withNullPrototype: true }) },
  { weight: 1, arbitrary: deep },
)

const members = (schema: unknown): readonly (readonly [string, unknown])[] =>
  isObject(schema) && isObject(schema.properties) ? Object.entries(schema.properties) : []

/** Values that mostly fit one field. */
const fitting = (schema: unknown): fc.Arbitrary<unknown> => {
  if (!isObject(schema)) return junk
  if (Array.isArray(schema.enum)) return fc.constantFrom<unknown>(...(schema.enum as unknown[]))
  switch (schema.type) {
    case 'string': {
      const { maxLength } = schema
      const short = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      // A text of a megabyte in every tenth place would be all that is tested.
      return typeof maxLength === 'number' && maxLength < 10_000
        ? fc.oneof({ weight: 4, arbitrary: short }, { weight: 1, arbitrary: atBound(maxLength) })
        : short
    }
    case 'integer':
    case 'number': {
      const [min, max] = [Number(schema.minimum ?? 0), Number(schema.maximum ?? 100)]
      const inside =
        schema.type === 'integer' ? fc.integer({ min, max }) : fc.double({ min, max, noNaN: true })
      return fc.oneof(inside, fc.constantFrom(min, max, min - 1, max + 1))
    }
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(fc.oneof(fitting(schema.items), fc.constantFrom('/', '/tmp', 'relative')), {
        maxLength: 3,
      })
    default:
      return fc.record(Object.fromEntries(members(schema).map(([key, member]) => [key, fitting(member)])), {
        requiredKeys: [],
      })
  }
}

type Change = (args: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>

const changed = (change: Change): Change => change
const without = (key: string): Change =>
  changed((args) => Object.fromEntries(Object.entries(args).filter(([name]) => name !== key)))
/** An own member even if it is called __proto__, as in parsed JSON. */
const withMember = (key: string, value: unknown): Change =>
  changed((args) => Object.fromEntries([...Object.entries(without(key)(args)), [key, value]]))

const change = (schema: unknown): fc.Arbitrary<Change> => {
  const fields = members(schema)
  const extra = fc.tuple(keys, junk).map(([key, value]) => withMember(key, value))
  if (fields.length === 0) return extra
  const field = fc.constantFrom(...fields)
  const nested = fields.filter(([, member]) => members(member).length > 0)
  const inNested = nested.map(([key, member]) =>
    change(member).map((inner): Change => (args) => {
      const value = args[key]
      return withMember(key, inner(isObject(value) ? value : {}))(args)
    }),
  )
  return fc.oneof(
    {
      weight: 8,
      arbitrary: field.chain(([key, member]) => fitting(member).map((value) => withMember(key, value))),
    },
    { weight: 3, arbitrary: field.chain(([key]) => junk.map((value) => withMember(key, value))) },
    { weight: 1, arbitrary: field.map(([key]) => without(key)) },
    { weight: 2, arbitrary: field.map(([key]) => withMember(key, null)) },
    { weight: 1, arbitrary: extra },
    ...inNested.map((arbitrary) => ({ weight: 2, arbitrary })),
  )
}

const LONG = 1_048_576
/** Messages at the longest that the App Server takes; rare, for they are slow. */
const huge = (tool: AnyTool): fc.Arbitrary<Change> => {
  const long = members(tool.input).filter(([, member]) => isObject(member) && member.maxLength === LONG)
  if (long.length === 0) return change(tool.input)
  return fc.tuple(fc.constantFrom(...long), atBound(LONG)).map(([[key], value]) => withMember(key, value))
}

const ofTool = (tool: AnyTool): fc.Arbitrary<Sample> => {
  const example = fc.constantFrom(...tool.examples.map(({ input }) => input))
  const changes = fc.array(change(tool.input), { maxLength: 4 })
  const mutated = fc
    .tuple(example, changes)
    .map(([input, list]) => list.reduce<Readonly<Record<string, unknown>>>((args, each) => each(args), input))
  const args: fc.Arbitrary<unknown> = fc.oneof(
    { weight: 60, arbitrary: mutated },
    { weight: 3, arbitrary: junk },
    {
      weight: 1,
      arbitrary: fc
        .tuple(example, fc.nat(20))
        .chain(([input, n]) => (n > 0 ? fc.constant(input) : huge(tool).map((each) => each(input)))),
    },
  )
  return args.map((value) => sample(tool, value))
}

/** Arguments of every tool: its examples, changed in up to four places, and plain junk. */
export const samples = (tools: readonly AnyTool[]): fc.Arbitrary<Sample> =>
  fc.oneof(...tools.map((tool) => ({ weight: tool.kind === 'mutation' ? 3 : 1, arbitrary: ofTool(tool) })))
