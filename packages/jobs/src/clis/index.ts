import type { Agent } from '../store/job.ts'
import { antigravity } from './antigravity.ts'
import { claude } from './claude.ts'
import type { Cli } from './cli.ts'
import { codex } from './codex.ts'
import { forge } from './forge.ts'
import { opencode } from './opencode.ts'

/** Every CLI that jobs run. */
export const clis: Readonly<Record<Agent, Cli>> = { claude, codex, opencode, forge, antigravity }

export const allClis: readonly Cli[] = Object.values(clis)
