import { execFileSync, spawnSync } from 'node:child_process'
import { constants, copyFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { at, cliBinary, poll, startRealCli } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, it } from 'vitest'
import { inJobsPlace, resultOf, startJob } from './jobs-bridge.ts'

const SLOW = 120_000

describe.each(['claude', 'opencode'] as const)('a job of the real %s', (agent) => {
  const binary = cliBinary(agent)
  if ('missing' in binary) {
    it.skip(`skipped: ${binary.missing}`, () => undefined)
    return
  }

  it(
    'survives the kill of its bridge and reports its true outcome',
    async () => {
      const real = await startRealCli(agent)
      real.model.hold()
      real.model.reply({ text: 'Finished without a bridge.' })
      await inJobsPlace(async (place) => {
        const first = await place.bridge()
        const jobId = await startJob(first, place, 'Count the files.', { agent })
        await poll(() => real.model.requests.length > 0, { timeoutMs: SLOW })
        await first.kill()
        real.model.release()
        await poll(() => existsSync(join(place.stateDir, 'jobs', jobId, 'exit')), { timeoutMs: SLOW })
        const second = await place.bridge()
        expect(await resultOf(second, jobId)).toMatchObject({
          status: 'completed',
          outcome: 'success',
          exitCode: 0,
          agentOutput: { message: 'Finished without a bridge.' },
          usage: { outputTokens: 3 },
        })
      }, real.env)
      await real.close()
    },
    SLOW,
  )
})

const NOBODY = '65534'
const becomeNobody = ['setpriv', '--reuid', NOBODY, '--regid', NOBODY, '--clear-groups']
const asNobody = [...becomeNobody, process.execPath]

/** Whether the other user can read what was built. */
const nobodyReads = (): boolean => {
  const [program = '', ...args] = [...becomeNobody, 'test', '-r', import.meta.filename]
  return spawnSync(program, args).status === 0
}

const claudeBinary = cliBinary('claude')
const why = ((): string | undefined => {
  if ('missing' in claudeBinary) return claudeBinary.missing
  if (process.getuid?.() !== 0) return 'only root can become another user'
  return nobodyReads() ? undefined : 'another user cannot read this checkout'
})()

it.skipIf(why !== undefined)(
  `the real claude has full access as another user than root${why === undefined ? '' : ` (skipped: ${why})`}`,
  async () => {
    const real = await startRealCli('claude')
    await inJobsPlace(async (place) => {
      const root = join(place.work, '..')
      // The cache may be in a home that is closed to others.
      const claude = join(root, 'claude')
      copyFileSync(real.env.CLAUDE_CLI_NAME ?? '', claude, constants.COPYFILE_FICLONE)
      for (const path of [root, real.env.HOME ?? '']) execFileSync('chown', ['-R', NOBODY, path])
      const written = join(root, 'outside-of-the-work-folder')
      real.model.reply({ shell: `echo x > ${written}` }, { text: 'done' })
      const bridge = await place.bridge(['env', `CLAUDE_CLI_NAME=${claude}`, ...asNobody])
      const more = { agent: 'claude', access: 'danger-full-access' }
      const jobId = await startJob(bridge, place, 'Write it.', more)
      await poll(async () => at(await resultOf(bridge, jobId), 'status') !== 'running', { timeoutMs: SLOW })
      expect(await resultOf(bridge, jobId)).toMatchObject({ status: 'completed', outcome: 'success' })
      expect(existsSync(written)).toBe(true)
    }, real.env)
    await real.close()
  },
  SLOW,
)
