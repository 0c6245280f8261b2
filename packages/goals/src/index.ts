import { definePlugin } from '@codex-thread-bridge/core/contract'
import { getGoal } from './get-goal.ts'
import { version } from './version.ts'

/** get_goal. Setting goals is left out on purpose: on a loaded thread it starts turns by itself. */
export const createGoalsPlugin = () =>
  definePlugin({ name: 'goals', family: 'bridge', version, tools: [getGoal] })
