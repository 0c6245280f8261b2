import { Compile, type Validator } from 'typebox/compile'
import { TransportError } from '../contract/errors.ts'
import { methodSpec, type Method, type Result } from '../protocol/methods.ts'

export type ResultCheck = <M extends Method>(method: M, result: unknown) => Result<M>

/**
 * Checks answers against the method table; each schema is compiled once, when it is first needed.
 * The check throws a TransportError unexpected_answer that names the method and the first field that does not fit.
 */
export const createResultCheck = (): ResultCheck => {
  const compiled = new Map<Method, Validator>()
  const validatorOf = (method: Method): Validator => {
    const validator = compiled.get(method) ?? Compile(methodSpec(method).result)
    compiled.set(method, validator)
    return validator
  }
  const fits = <M extends Method>(method: M, result: unknown): result is Result<M> =>
    validatorOf(method).Check(result)

  return (method, result) => {
    if (fits(method, result)) return result
    throw unexpected(method, validatorOf(method).Errors(result)[0])
  }
}

const unexpected = (
  method: Method,
  fault: { readonly instancePath: string; readonly message: string } | undefined,
): TransportError => {
  const field = fault?.instancePath.slice(1).replaceAll('/', '.') ?? ''
  const where = field === '' ? 'the answer' : field
  return new TransportError(
    'unexpected_answer',
    `${method} was answered in an unknown shape: ${where} ${fault?.message ?? 'does not fit'}.`,
    'unknown',
    { field, details: { method, field } },
  )
}
