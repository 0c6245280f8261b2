import { execFileSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import type { Place as Lane } from '../fault-matrix/bridges.ts'
import type { PlaceName } from './places.ts'

export interface ChildLaunch extends Lane {
  readonly args: Readonly<Record<string, unknown>>
  /** Where it kills itself. */
  readonly dies?: { readonly at: PlaceName; readonly when: 'begin' | 'outcome' } | { readonly phase: string }
}

const TSX = createRequire(import.meta.url).resolve('tsx')
const SCRIPT = fileURLToPath(new URL('launch.child.ts', import.meta.url))

const argsOf = (launch: ChildLaunch) => ['--import', TSX, SCRIPT, JSON.stringify(launch)]

/** A launch by a bridge in a process of its own, which kills itself at a place. */
export const launchThatDies = async (launch: ChildLaunch): Promise<void> => {
  const { signal, stderr } = await execa(process.execPath, argsOf(launch), { reject: false })
  if (signal !== 'SIGKILL') throw new Error(`the bridge did not die: ${stderr}`)
}

/** A whole launch by another bridge, while this process stands still. */
export const launchMeanwhile = (launch: ChildLaunch): void =>
  void execFileSync(process.execPath, argsOf(launch), { stdio: 'pipe' })
