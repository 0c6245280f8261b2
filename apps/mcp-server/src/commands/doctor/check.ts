/** One thing that doctor looked at; `next` is the command or the step that puts it right. */
export interface Check {
  readonly name: string
  readonly state: 'ok' | 'warn' | 'fail'
  readonly message: string
  readonly next?: string
}

export const ok = (name: string, message: string): Check => ({ name, state: 'ok', message })
export const warn = (name: string, message: string, next: string): Check => ({
  name,
  state: 'warn',
  message,
  next,
})
export const fail = (name: string, message: string, next: string): Check => ({
  name,
  state: 'fail',
  message,
  next,
})

/** A path as a shell takes it. */
export const quoted = (path: string): string =>
  /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", `'\\''`)}'`
