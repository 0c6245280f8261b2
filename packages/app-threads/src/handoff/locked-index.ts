import { lstat } from 'node:fs/promises'
import { BridgeError } from '@codex-thread-bridge/core/contract'
import type { Git } from '@codex-thread-bridge/core/git'

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  )

/**
 * Refuses a checkout whose index another Git command has locked, or has left locked: its changes could not be taken out.
 * @throws BridgeError git_failed that names the lock file
 */
export const refuseLockedIndex = async (git: Git, root: string): Promise<void> => {
  const question = ['rev-parse', '--path-format=absolute', '--git-path', 'index.lock']
  const { stdout } = await git.run(question, { cwd: root })
  const lock = stdout.toString('utf8').replace(/\n$/, '')
  if (!(await exists(lock))) return
  throw new BridgeError('git_failed', `The index of ${root} is locked by ${lock}; nothing was done.`, {
    next: 'new_request_id',
    hint: 'Call again when the other Git command has ended. When none runs, take the lock file away.',
    details: { path: lock },
  })
}
