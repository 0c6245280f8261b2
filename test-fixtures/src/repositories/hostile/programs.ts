import type { TreeEntry } from '../fast-import.ts'
import type { Stage } from './stage.ts'

/** Files that a diff, a merge or a blame starts a program for. */
export const drivenFiles = (version: number): readonly TreeEntry[] =>
  ['command.txt', 'textconv.txt', 'merged.txt', 'other.txt'].map((path) => ({
    path,
    content: `${path} ${String(version)}\n`,
  }))

/** In `.git/info/attributes`, where no commit shows them. */
const attributes = [
  'command.txt diff=by-command',
  'textconv.txt diff=by-textconv',
  'merged.txt merge=by-driver',
]

const fakeSignature =
  "cat > /dev/null; printf '\\n[GNUPG:] SIG_CREATED \\n' >&2; echo '-----BEGIN PGP SIGNATURE-----'"

/** Programs that Git starts for diffs and merges. */
export async function layDrivers(stage: Stage): Promise<void> {
  const cwd = stage.repository.root
  for (const line of attributes) await stage.attribute(line)
  await stage.setting('local', 'diff.external', await stage.script('diff.external'))
  await stage.setting('local', 'diff.by-command.command', await stage.script('diff.command'))
  await stage.setting(
    'local',
    'diff.by-textconv.textconv',
    await stage.script('diff.textconv', 'exec cat "$1"'),
  )
  await stage.setting('global', 'merge.by-driver.driver', await stage.script('merge.driver'))
  for (const name of ['diff.external', 'diff.command', 'diff.textconv', 'merge.driver'])
    stage.expected.add(name)
  stage.springs.push(
    { args: ['diff', 'main~1', 'main'], cwd },
    { args: ['log', '-p', '-1', 'main'], cwd },
    { args: ['show', 'main'], cwd },
    { args: ['blame', 'textconv.txt'], cwd },
    { args: ['merge', '--no-edit', '--quiet', 'side'], cwd },
    { args: ['merge', '--abort'], cwd },
  )
}

/** Programs that Git starts for the user's eyes and hands. */
export async function layTools(stage: Stage): Promise<void> {
  const cwd = stage.repository.root
  const tools = ['core.fsmonitor', 'core.editor', 'sequence.editor', 'core.askPass', 'gpg.program'] as const
  const bodies: Partial<Record<(typeof tools)[number], string>> = { 'gpg.program': fakeSignature }
  for (const name of tools) {
    await stage.setting('local', name, await stage.script(name, bodies[name]))
    stage.expected.add(name)
  }
  // No terminal is at hand to prove this one.
  await stage.setting('local', 'core.pager', await stage.script('core.pager'))
  await stage.setting('local', 'pager.log', await stage.script('pager.log'))
  await stage.setting('local', 'gpg.ssh.defaultKeyCommand', await stage.script('gpg.ssh.defaultKeyCommand'))
  await stage.setting('local', 'alias.spring', `!${await stage.script('alias')}`)
  await stage.setting('local', 'trailer.sprung.cmd', await stage.script('trailer.cmd'))
  await stage.setting('local', 'credential.helper', await stage.script('credential.helper'))
  const forHost = 'credential.https://host.invalid.helper'
  await stage.setting('global', forHost, await stage.script('credential.url.helper'))
  await stage.setting('local', 'log.showSignature', 'true')
  for (const name of [
    'gpg.ssh.defaultKeyCommand',
    'alias',
    'trailer.cmd',
    'credential.helper',
    'credential.url.helper',
  ]) {
    stage.expected.add(name)
  }
  stage.springs.push(
    { args: ['status'], cwd },
    { args: ['spring'], cwd },
    { args: ['commit', '--quiet', '--allow-empty', '-S'], cwd },
    { args: ['log', '-1', 'signed'], cwd },
    { args: ['-c', 'gpg.format=ssh', 'commit', '--quiet', '--allow-empty', '-S', '-m', 'A spring'], cwd },
    { args: ['rebase', '--interactive', 'main~1'], cwd },
    { args: ['interpret-trailers', '--trailer', 'sprung:1'], cwd, input: 'A subject\n' },
    { args: ['credential', 'fill'], cwd, input: 'protocol=https\nhost=host.invalid\n\n' },
  )
}

/** Traces that the user's settings send to files. */
export async function layTrace(stage: Stage): Promise<void> {
  for (const target of ['normalTarget', 'eventTarget', 'perfTarget']) {
    await stage.setting('global', `trace2.${target}`, stage.markPath(`trace2.${target}`))
    stage.expected.add(`trace2.${target}`)
  }
}
