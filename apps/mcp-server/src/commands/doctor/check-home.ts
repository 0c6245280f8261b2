import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { ok, quoted, warn, type Check } from './check.ts'

const real = (path: string): string => {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

/** CODEX_HOME: the App Server's own when it told, else where this environment says. */
export const checkHome = (
  serverHome: string | null,
  env: Readonly<Record<string, string | undefined>>,
): Check => {
  const named = env.CODEX_HOME === '' ? undefined : env.CODEX_HOME
  if (serverHome !== null) {
    if (named === undefined || real(named) === real(serverHome)) return ok('home', serverHome)
    const message = `the App Server's CODEX_HOME is ${serverHome}, this environment's is ${named}`
    return warn('home', message, `export CODEX_HOME=${quoted(serverHome)}`)
  }
  const home = named ?? join(homedir(), '.codex')
  return existsSync(home)
    ? ok('home', home)
    : warn('home', `${home} does not exist: Codex has not run here yet`, 'codex login')
}
