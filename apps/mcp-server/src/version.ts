import { packageVersion } from '@codex-thread-bridge/core/contract'

/** The version of this package, from its package.json. */
export const version = packageVersion(import.meta.url)
