import { register } from 'node:module'

// Loaded before a script: the package better-sqlite3 is not installed for it.
const hooks = `export const resolve = (specifier, context, next) => {
  if (specifier !== 'better-sqlite3') return next(specifier, context)
  throw Object.assign(new Error("Cannot find package 'better-sqlite3'"), { code: 'ERR_MODULE_NOT_FOUND' })
}`
register(`data:text/javascript,${encodeURIComponent(hooks)}`)
await import('./fill.ts')
