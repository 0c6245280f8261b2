import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError, type BridgeOptions } from '../../options.ts'
import { printable } from '../../printable.ts'
import type { Output } from './output.ts'
import { withLedger } from './with-ledger.ts'

/** Copies the ledger to a new file while servers go on writing. @throws UsageError when the file exists */
export const backupOperations = (options: BridgeOptions, file: string, output: Output): Promise<number> => {
  const path = resolve(file)
  if (existsSync(path)) throw new UsageError(`${path} exists already`)
  return withLedger(options, output, async (ledger) => {
    const { operations, bytes } = await ledger.backup(path)
    const plain = `${path}: ${String(operations)} operations, ${String(bytes)} bytes, verified`
    console.log(output.json ? JSON.stringify({ path, operations, bytes }, null, 2) : printable(plain))
  })
}
