import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  createHostileRepository,
  type HostileRepository,
  tryPlainGit,
  userEnvironment,
} from '../src/index.ts'

describe.each(['directory', 'local', 'global'] as const)('a hostile repository with hooks by %s', (hooks) => {
  let hostile: HostileRepository
  beforeEach(async () => {
    hostile = await createHostileRepository(hooks)
  })
  afterEach(() => hostile.remove())

  it('leaves no mark while it is built, and that of every trap under plain Git', async () => {
    expect(await hostile.marks()).toEqual([])
    for (const { args, cwd, input } of hostile.springs) {
      await tryPlainGit(args, { cwd, home: hostile.home, ...(input !== undefined && { input }) })
    }
    const marks = await hostile.marks()
    expect(hostile.traps.filter((trap) => !marks.includes(trap))).toEqual([])
    expect(hostile.traps.length).toBeGreaterThan(60)
  })

  it.runIf(process.platform === 'linux')('starts a pager where there is a terminal', async () => {
    // A trap that stands in for the pager reads nothing: Git may end by SIGPIPE.
    await execa('script', ['-qec', 'git log -1', '/dev/null'], {
      reject: false,
      cwd: hostile.root,
      env: { ...userEnvironment(hostile.home), TERM: 'xterm' },
      extendEnv: false,
      stdin: 'ignore',
    })
    expect(await hostile.marks()).toContain('pager.log')
  })
})
