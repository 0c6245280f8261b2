import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createHost } from '@codex-thread-bridge/core/host'
import { cannedAppServer, memoryLedger, testPlugin } from '@codex-thread-bridge/core/testing'
import { tempDir, writeStandIn } from '@codex-thread-bridge/test-fixtures'
import { createJobsPlugin, jobsDefaults } from '@codex-thread-bridge/jobs'
import { afterAll, expect, it } from 'vitest'
import { endedJob } from './support/ended-job.ts'
import { openJobStore } from '../src/store/job-store.ts'

const root = tempDir('jp')
const stateDir = join(root.path, 'state')
mkdirSync(stateDir, { mode: 0o700 })
const standIn = writeStandIn(root.path, 'stand-in')
const plugin = () =>
  createJobsPlugin({
    ...jobsDefaults,
    stateDir,
    env: { PATH: process.env.PATH, CODEX_CLI_NAME: standIn },
    homedir: root.path,
    isRoot: false,
  })
afterAll(() => root.remove())

const store = await openJobStore(stateDir)
store.insert(endedJob({ jobId: 'job-example' }), 1)
store.close()

testPlugin(() => plugin(), it)

it('has the nine tools of the family', () => {
  expect(plugin().tools.map(({ name }) => name)).toEqual([
    'run',
    'list_processes',
    'get_result',
    'wait',
    'peek',
    'kill_process',
    'cleanup_processes',
    'doctor',
    'models',
  ])
})

it('makes neither state nor connection before the first call', async () => {
  const place = join(root.path, 'untouched')
  const host = createHost({ appServer: cannedAppServer({}), ledger: memoryLedger() })
  host.register(
    createJobsPlugin({ ...jobsDefaults, stateDir: place, env: {}, homedir: root.path, isRoot: false }),
  )
  await host.ready()
  await host.call('models', {})
  await host.close()
  expect(() => mkdirSync(place)).not.toThrow()
})
