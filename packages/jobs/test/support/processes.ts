import { readFileSync } from 'node:fs'
import { processFacts } from '@codex-thread-bridge/core/ledger'
import { poll } from '@codex-thread-bridge/test-fixtures'
import { processTable } from '../../src/process/process-table.ts'

/** Whether a process runs (a zombie does not). */
export const runs = (pid: number): boolean => {
  const facts = processFacts(pid)
  return facts !== undefined && facts.state !== 'Z' && facts.state !== 'X'
}

/** The pid that a stand-in wrote into a file. */
export const pidIn = (path: string): Promise<number> =>
  poll(() => Number(readFileSync(path, 'utf8')) || undefined, { what: `a pid in ${path}` })

/** How many processes run below a pid, itself included. */
export const countTree = async (pid: number): Promise<number> => {
  const table = await processTable()
  const below = (parent: number): number =>
    table.filter(({ ppid }) => ppid === parent).reduce((sum, child) => sum + 1 + below(child.pid), 0)
  return below(pid) + (table.some((row) => row.pid === pid) ? 1 : 0)
}
