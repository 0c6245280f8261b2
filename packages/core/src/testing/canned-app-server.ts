import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { AppServer, Connection, ServerInfo } from '../contract/app-server.ts'
import { AppServerError, errorCodes, type ErrorCode } from '../contract/errors.ts'
import type { Example } from '../contract/tool.ts'
import { methodSpec, type Method, type Result } from '../protocol/methods.ts'

const refusal = Compile(
  Type.Object(
    { error: Type.Object({ code: Type.String(), message: Type.String() }) },
    { additionalProperties: false },
  ),
)
const sequence = Compile(Type.Object({ each: Type.Array(Type.Unknown()) }, { additionalProperties: false }))

const REFUSED = -32_600
const MARKER = '{marker}'

const server: ServerInfo = {
  userAgent: 'canned/0.0.0',
  version: '0.0.0',
  codexHome: null,
  socketMtimeNs: '0',
}

export interface CannedAppServer extends AppServer {
  /** Every method that was called so far. */
  readonly called: ReadonlySet<Method>
  /** Where call and example did not go together; a tool may swallow what it is thrown. */
  readonly faults: readonly string[]
}

const isCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code)

const isResultOf = <M extends Method>(method: M, value: unknown): value is Result<M> =>
  Compile(methodSpec(method).result).Check(value)

/** An App Server that answers as an example says (contract: Example). Any other call is a fault, and throws. */
export const cannedAppServer = (answers: Example['answers']): CannedAppServer => {
  const called = new Set<Method>()
  const faults: string[] = []
  function demand(holds: boolean, fault: string): asserts holds {
    if (holds) return
    faults.push(fault)
    throw new Error(fault)
  }
  const counts = new Map<Method, number>()
  let marker = ''

  const nextAnswer = (method: Method): unknown => {
    const answer: unknown = answers[method]
    demand(answer !== undefined, `the example has no answer to ${method}`)
    if (!sequence.Check(answer)) return answer
    const count = counts.get(method) ?? 0
    counts.set(method, count + 1)
    return answer.each[Math.min(count, answer.each.length - 1)]
  }

  const takeMarker = (method: Method, params: object): void => {
    const members: Readonly<Record<string, unknown>> = { ...params }
    const found = members[methodSpec(method).marker ?? '']
    if (typeof found === 'string') marker = found
  }

  const connection: Connection = {
    server,
    connect: async () => server,
    onNotification: () => () => undefined,
    onDisconnect: () => () => undefined,
    call: async (method, params) => {
      called.add(method)
      const fits = Compile(methodSpec(method).params).Check(params)
      demand(fits, `${method} does not take ${JSON.stringify(params)}`)
      takeMarker(method, params)
      const answer: unknown = JSON.parse(JSON.stringify(nextAnswer(method)).replaceAll(MARKER, marker))
      if (refusal.Check(answer)) {
        const { code, message } = answer.error
        demand(isCode(code), `${code} is no error code of the bridge`)
        throw new AppServerError(code, method, { code: REFUSED, message })
      }
      demand(isResultOf(method, answer), `the example’s answer to ${method} is not a result of it`)
      return answer
    },
  }

  return {
    called,
    faults,
    reads: connection,
    actions: connection,
    socket: { configured: '/canned/app-server.sock', resolved: '/canned/app-server.sock' },
    missingMethods: async () => [],
    close: async () => undefined,
  }
}
