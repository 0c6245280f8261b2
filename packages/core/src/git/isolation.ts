import type { Setting } from './setting.ts'

/** A shell command that fails at once and starts no program. */
export const REFUSE = 'exit 1;'

/** Every hook event of Git (its hook-list): from 2.55 on an event as such can be switched off. */
const hookEvents = [
  'applypatch-msg',
  'commit-msg',
  'fsmonitor-watchman',
  'p4-changelist',
  'p4-post-changelist',
  'p4-pre-submit',
  'p4-prepare-changelist',
  'post-applypatch',
  'post-checkout',
  'post-commit',
  'post-index-change',
  'post-merge',
  'post-receive',
  'post-rewrite',
  'post-update',
  'pre-applypatch',
  'pre-auto-gc',
  'pre-commit',
  'pre-merge-commit',
  'pre-push',
  'pre-rebase',
  'pre-receive',
  'prepare-commit-msg',
  'proc-receive',
  'push-to-checkout',
  'reference-transaction',
  'sendemail-validate',
  'update',
] as const

/** The settings of every command: no program of the repository or of the user, no network, no helpful extras. */
export const isolation: readonly Setting[] = [
  ['core.hooksPath', '/dev/null'],
  ...hookEvents.map((event): Setting => [`hook.${event}.enabled`, 'false']),
  ['core.fsmonitor', 'false'],
  ['core.sshCommand', REFUSE],
  ['core.pager', 'cat'],
  ['core.editor', ':'],
  ['sequence.editor', ':'],
  ['core.askPass', ''],
  ['core.alternateRefsCommand', REFUSE],
  ['core.useReplaceRefs', 'false'],
  ['credential.helper', ''],
  ['credential.interactive', 'false'],
  ['protocol.allow', 'never'],
  ['submodule.recurse', 'false'],
  ['fetch.recurseSubmodules', 'false'],
  ['push.recurseSubmodules', 'no'],
  ['status.submoduleSummary', 'false'],
  // The other forms are made by a Git command in the submodule, with the submodule's settings.
  ['diff.submodule', 'short'],
  ['diff.external', REFUSE],
  ['gpg.program', REFUSE],
  ['gpg.openpgp.program', REFUSE],
  ['gpg.x509.program', REFUSE],
  ['gpg.ssh.program', REFUSE],
  ['gpg.ssh.defaultKeyCommand', ''],
  ['commit.gpgSign', 'false'],
  ['tag.gpgSign', 'false'],
  ['log.showSignature', 'false'],
  ['merge.verifySignatures', 'false'],
  ['init.templateDir', ''],
  ['gc.auto', '0'],
  ['maintenance.auto', 'false'],
  // What Git knows of files must be true, and what it writes must stay in its place.
  ['core.ignoreStat', 'false'],
  ['core.protectHFS', 'true'],
  ['core.protectNTFS', 'true'],
  // Relative links would make the repository unreadable for a Git before 2.48.
  ['worktree.useRelativePaths', 'false'],
]

/** Flags of commands that start programs, or Git in a submodule, where no setting tells them not to. */
const ownFlags: Readonly<Record<string, readonly string[]>> = {
  blame: ['--no-textconv'],
  diff: ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty'],
  'diff-files': ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty'],
  'diff-index': ['--no-ext-diff', '--no-textconv', '--ignore-submodules=dirty'],
  'diff-tree': ['--no-ext-diff', '--no-textconv'],
  log: ['--no-ext-diff', '--no-textconv'],
  show: ['--no-ext-diff', '--no-textconv'],
  status: ['--ignore-submodules=dirty'],
}

/** A command with its flags of isolation; another flag of the caller's stands later and wins. */
export const isolatedCommand = (args: readonly string[]): readonly string[] => {
  const [command = '', ...rest] = args
  // Files of a new worktree come in a command of their own: its filters are known only where it stands.
  const [action, ...more] = rest
  if (command === 'worktree' && action === 'add')
    return ['--no-pager', command, action, '--no-checkout', ...more]
  return ['--no-pager', command, ...(ownFlags[command] ?? []), ...rest]
}

/**
 * Questions that start no program under any name of the user's choice. Of a revision is none of them: there a setting
 * that cannot be switched off is met before anything is made.
 */
export const startsNothing = ([command, action]: readonly string[]): boolean =>
  command === 'rev-parse' || (command === 'worktree' && action === 'list')
