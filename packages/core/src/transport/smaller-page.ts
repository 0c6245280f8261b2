import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { methods, type Method } from '../protocol/methods.ts'

/** How many rows the App Server answers with when no limit is given. */
const defaultLimit = 25

const Limited = Compile(Type.Object({ limit: Type.Integer() }))

/** The same list with half the limit; undefined when it cannot be asked for less. */
export const smallerPage = (method: Method, params: object): object | undefined => {
  if (!('limit' in methods[method].params.properties)) return undefined
  const limit = Limited.Check(params) ? params.limit : defaultLimit
  return limit > 1 ? { ...params, limit: Math.floor(limit / 2) } : undefined
}
