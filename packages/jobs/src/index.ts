export { createJobsPlugin, type JobsSurroundings } from './plugin.ts'
export { jobsDefaults, type JobsOptions } from './options.ts'
export { agents, type Agent } from './store/job.ts'
