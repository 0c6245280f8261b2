import { Type, type Static } from 'typebox'
import { Compile } from 'typebox/compile'
import type { ServerNotification } from '../contract/app-server.ts'
import type { RpcErrorBody } from '../contract/errors.ts'

const Id = Type.Union([Type.String(), Type.Number()])
const RpcError = Type.Object({
  code: Type.Number(),
  message: Type.String(),
  data: Type.Optional(Type.Unknown()),
})
const Request = Type.Object({ method: Type.String(), id: Id, params: Type.Optional(Type.Unknown()) })
const Notification = Type.Object({ method: Type.String(), params: Type.Optional(Type.Unknown()) })
const Refusal = Type.Object({ id: Id, error: RpcError })
const Answer = Type.Object({ id: Id, result: Type.Unknown() })

const isRequest = Compile(Request)
const isNotification = Compile(Notification)
const isRefusal = Compile(Refusal)
const isAnswer = Compile(Answer)
const isObject = Compile(Type.Record(Type.String(), Type.Unknown()))

export type MessageId = Static<typeof Id>

/** A message of the App Server, told apart by its members (it leaves `jsonrpc` out). */
export type ServerMessage =
  | { readonly kind: 'answer'; readonly id: MessageId; readonly result: unknown }
  | { readonly kind: 'refusal'; readonly id: MessageId; readonly rpc: RpcErrorBody }
  | { readonly kind: 'request'; readonly id: MessageId; readonly method: string; readonly params: unknown }
  | { readonly kind: 'notification'; readonly notification: ServerNotification }

/** The message in the text of one frame; undefined when it is none. */
export const parseMessage = (text: string): ServerMessage | undefined => {
  const value = parseJson(text)
  if (isRequest.Check(value)) {
    return { kind: 'request', id: value.id, method: value.method, params: value.params }
  }
  if (isNotification.Check(value)) {
    return { kind: 'notification', notification: { method: value.method, params: value.params } }
  }
  if (isRefusal.Check(value)) return { kind: 'refusal', id: value.id, rpc: value.error }
  if (isAnswer.Check(value)) return { kind: 'answer', id: value.id, result: value.result }
  return undefined
}

/** A member of parsed JSON; undefined when it is no object or has none of that name. */
export const memberOf = (value: unknown, name: string): unknown =>
  isObject.Check(value) ? value[name] : undefined

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
