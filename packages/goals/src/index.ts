import { definePlugin, packageVersion } from '@codex-thread-bridge/core/contract'
import { getGoal } from './get-goal.ts'

/** get_goal. Setting goals is left out on purpose: on a loaded thread it starts turns by itself. */
export const createGoalsPlugin = () =>
  definePlugin({
    name: 'goals',
    family: 'bridge',
    version: packageVersion(import.meta.url),
    tools: [getGoal],
  })
