import type { Cli } from './cli.ts'
import type { Environment } from './locate.ts'

/** What every CLI may have: nothing that is secret. */
const COMMON =
  /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|LC_\w+|TERM|TMPDIR|TZ|XDG_\w+|(HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_(FILE|DIR)|NODE_EXTRA_CA_CERTS)$/i

/** The environment of a CLI: what all may have, its own variables, and those that the operator adds. */
export const environmentOf = (
  cli: Cli,
  env: Environment,
  added: readonly string[],
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && (COMMON.test(name) || cli.variables.test(name) || added.includes(name))
        ? [[name, value] as const]
        : [],
    ),
  )
