import type BetterSqlite3 from 'better-sqlite3'
import type { Database, Options } from 'better-sqlite3'
import { BridgeError } from '../contract/errors.ts'
import { codeOf } from './ledger-error.ts'

/** Opens a file that exists. @throws BridgeError ledger_driver_missing; SQLite's errors as they come */
export type OpenFile = (path: string, options: Pick<Options, 'readonly' | 'timeout'>) => Database

/**
 * Loads the optional package better-sqlite3.
 * @throws BridgeError ledger_driver_missing
 */
export const loadDriver = async (): Promise<OpenFile> => {
  const Driver = await importDriver()
  return (path, options) => {
    try {
      return new Driver(path, { fileMustExist: true, ...options })
    } catch (error) {
      if (codeOf(error).startsWith('SQLITE_')) throw error
      // The JavaScript is there, its native part is not, or was built for another Node.
      throw new BridgeError('ledger_driver_missing', 'better-sqlite3 does not load on this Node.', {
        hint: 'npm rebuild better-sqlite3',
        cause: error,
      })
    }
  }
}

const importDriver = async (): Promise<typeof BetterSqlite3> => {
  try {
    return (await import('better-sqlite3')).default
  } catch (error) {
    if (codeOf(error) !== 'ERR_MODULE_NOT_FOUND') throw error
    throw new BridgeError('ledger_driver_missing', 'The package better-sqlite3 is not installed.', {
      cause: error,
    })
  }
}
