import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { protocolSchema, testedVersions } from '@codex-thread-bridge/test-fixtures'
import { Type, type Static, type TSchema } from 'typebox'
import { Compile } from 'typebox/compile'
import { describe, expect, it } from 'vitest'
import { methodNames, methodSpec, type Method } from '../../src/protocol/methods.ts'

const Members = Type.Object({
  properties: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  required: Type.Optional(Type.Array(Type.String())),
})
type Members = Static<typeof Members>
const members = Compile(Members)

const Request = Type.Object({
  properties: Type.Object({
    method: Type.Object({ enum: Type.Array(Type.String()) }),
    params: Type.Optional(Type.Object({ $ref: Type.Optional(Type.String()) })),
  }),
})
const protocol = Compile(
  Type.Object({
    definitions: Type.Object({
      ClientRequest: Type.Object({ oneOf: Type.Array(Request) }),
      v2: Type.Record(Type.String(), Type.Unknown()),
    }),
  }),
)

interface MethodSchema {
  readonly params: Members
  readonly result: Members
}

/** The App Server's own schema of every method whose types follow its naming. */
const schemaOf = async (version: string): Promise<(method: string) => MethodSchema | undefined> => {
  const path = join(await protocolSchema(version), 'codex_app_server_protocol.schemas.json')
  const { definitions } = protocol.Parse(JSON.parse(readFileSync(path, 'utf8')))
  return (method) => {
    const request = definitions.ClientRequest.oneOf.find(({ properties }) =>
      properties.method.enum.includes(method),
    )
    const name = request?.properties.params?.$ref?.split('/').at(-1)
    if (name === undefined) return undefined
    const part = (definition: string): Members => members.Parse(definitions.v2[definition])
    return { params: part(name), result: part(name.replace(/Params$/, 'Response')) }
  }
}

const ours = (schema: TSchema): Members => members.Parse(JSON.parse(JSON.stringify(schema)))

/** Every way in which a row of the method table and the App Server's schema disagree. */
const deviations = (method: Method, schema: MethodSchema | undefined): readonly string[] => {
  if (schema === undefined) return [`${method} does not exist`]
  const spec = methodSpec(method)
  const params = ours(spec.params)
  const result = ours(spec.result)
  const sent = [...(params.required ?? []), ...(spec.markerRequired === true ? [spec.marker] : [])]
  const markerExists = spec.marker === undefined || spec.marker in (schema.params.properties ?? {})
  return [
    ...(markerExists ? [] : [`${method} has no param ${spec.marker} for the marker`]),
    ...unknownMembers(params, schema.params).map((name) => `${method} has no param ${name}`),
    ...(schema.params.required ?? [])
      .filter((name) => !sent.includes(name))
      .map((name) => `${method} requires the param ${name}`),
    ...unknownMembers(result, schema.result).map((name) => `${method} has no result ${name}`),
    ...(result.required ?? [])
      .filter((name) => schema.result.required?.includes(name) !== true)
      .map((name) => `${method} may leave out the result ${name}`),
  ]
}

const unknownMembers = (table: Members, schema: Members): readonly string[] =>
  Object.keys(table.properties ?? {}).filter((name) => !(name in (schema.properties ?? {})))

describe.each(testedVersions)('the method table and Codex %s', (version) => {
  it('agree in methods, params and results', async () => {
    const schema = await schemaOf(version)
    expect(methodNames.flatMap((method) => deviations(method, schema(method)))).toEqual([])
  })

  it('would not agree in a method that does not exist', async () => {
    const schema = await schemaOf(version)
    expect(schema('thread/no-such-method')).toBeUndefined()
    expect(deviations('thread/read', undefined)).toEqual(['thread/read does not exist'])
    expect(
      deviations('thread/read', { params: { properties: {}, required: ['other'] }, result: {} }),
    ).toEqual([
      'thread/read has no param threadId',
      'thread/read requires the param other',
      'thread/read has no result thread',
      'thread/read may leave out the result thread',
    ])
  })
})
