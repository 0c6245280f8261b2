import {
  definePlugin,
  packageVersion,
  type Clock,
  type Log,
  type Plugin,
} from '@codex-thread-bridge/core/contract'
import { systemClock } from '@codex-thread-bridge/core/host'
import { Jobs } from './jobs.ts'
import type { JobsOptions } from './options.ts'
import { cleanupProcesses } from './tools/cleanup-processes.ts'
import { doctor } from './tools/doctor.ts'
import { getResult } from './tools/get-result.ts'
import { killProcess } from './tools/kill-process.ts'
import { listProcesses } from './tools/list-processes.ts'
import { models } from './tools/models.ts'
import { peek } from './tools/peek.ts'
import { run } from './tools/run.ts'
import { wait } from './tools/wait.ts'

export interface JobsSurroundings {
  readonly clock?: Clock
  readonly log?: Log
}

/** Background CLI agents as durable jobs: nine tools that need no App Server (contract: jobs). */
export const createJobsPlugin = (options: JobsOptions, around: JobsSurroundings = {}): Plugin => {
  const jobs = new Jobs(options, around.clock ?? systemClock, around.log ?? (() => undefined))
  return definePlugin({
    name: 'jobs',
    family: 'jobs',
    version: packageVersion(import.meta.url),
    tools: [
      run(jobs),
      listProcesses(jobs),
      getResult(jobs),
      wait(jobs),
      peek(jobs),
      killProcess(jobs),
      cleanupProcesses(jobs),
      doctor(jobs),
      models(jobs),
    ],
    setup: (scope) => {
      jobs.adoptSoon()
      scope.onClose(() => jobs.close())
    },
  })
}
