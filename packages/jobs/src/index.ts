export { createJobsPlugin, type JobsSurroundings } from './plugin.ts'
export { jobsDefaults, type JobsOptions } from './options.ts'
export { hasJobStore } from './store/job-store.ts'
export { agents, type Agent } from './store/job.ts'
