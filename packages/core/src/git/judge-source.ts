import { join } from 'node:path'
import type { MutationContext } from '../contract/tool.ts'
import type { SourceCheckout } from './source.ts'

/** What of a repository may be a link to another place, where Git would then write. */
const parts = ['objects', 'refs', 'refs/heads', 'logs', 'worktrees'] as const

/**
 * Judges where Git reads and writes for a checkout, wherever its `.git` leads: the checkout alone does not tell. Before
 * anything is made from it.
 * @throws BridgeError ceiling_exceeded that names the directory
 */
export const judgeSource = (
  ctx: Pick<MutationContext<never>, 'judge'>,
  { root, gitDirectory, commonDirectory }: SourceCheckout,
): Promise<void> =>
  ctx.judge(`Git in ${root}`, {
    cwd: gitDirectory,
    roots: [
      commonDirectory,
      join(gitDirectory, 'index'),
      ...parts.map((part) => join(commonDirectory, part)),
    ],
  })
