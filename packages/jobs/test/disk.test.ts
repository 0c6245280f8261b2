import { spawnSync } from 'node:child_process'
import { tempDir } from '@codex-thread-bridge/test-fixtures'
import { afterAll, expect, it } from 'vitest'
import { withJobs } from './support/jobs-host.ts'

const small = tempDir('jd')
const mounted =
  spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64m,mode=700', 'tmpfs', small.path]).status === 0
afterAll(async () => {
  if (mounted) spawnSync('umount', [small.path])
  await small.remove()
})

it.skipIf(!mounted)('a start with less than 512 MiB free is refused, and leaves nothing', () =>
  withJobs(
    async (jobs) => {
      await expect(jobs.run('anything')).rejects.toMatchObject({ code: 'disk_low', next: 'same_request_id' })
      expect(await jobs.call('list_processes')).toEqual({ processes: [], nextCursor: null })
    },
    { jobs: { stateDir: small.path } },
  ),
)
