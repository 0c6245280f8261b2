import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TreeEntry } from '../fast-import.ts'
import type { Scope, Stage } from './stage.ts'

/** Filters by the file that each has an attribute on. Attribute values hold no white space; all else is a name. */
const names = {
  'plain.txt': 'plain',
  'by-user.txt': 'by-user',
  'dotted.txt': 'a.b',
  'equals.txt': 'a=b',
  'quote.txt': 'a"b\\c',
  'separator.txt': 'a\u2028b',
  'accent.txt': 'é',
  'empty.txt': '',
  'long.txt': 'x'.repeat(300),
  'in-worktree.txt': 'in-worktree',
  'conditional.txt': 'conditional',
  'by-remote.txt': 'by-remote',
  'by-info.txt': 'by-info',
  'by-user-attribute.txt': 'by-user-attribute',
} as const

/** A filter process that says it can do nothing: Git goes on without it. */
const incapable = "printf '0016git-filter-server\\n000eversion=2\\n00000000'; exec cat > /dev/null"

type FileName = keyof typeof names

const attributesInTree = Object.entries(names)
  .filter(([file]) => file !== 'by-info.txt' && file !== 'by-user-attribute.txt')
  .map(([file, name]) => `${file} filter=${name}`)

/** The files that the filters are for, and the attributes that say so. */
export const filteredFiles: readonly TreeEntry[] = [
  { path: '.gitattributes', content: [...attributesInTree, 'process.txt filter=process', ''].join('\n') },
  ...[...Object.keys(names), 'process.txt'].map((path) => ({ path, content: `${path}\n` })),
]

/** The settings of a filter; whatever ran is told by the mark. */
const filterSettings = async (stage: Stage, file: FileName): Promise<Record<string, string>> => {
  const label = `filter.${file.replace('.txt', '')}`
  stage.expected.add(`${label}.clean`).add(`${label}.smudge`)
  return {
    [`filter.${names[file]}.clean`]: await stage.script(`${label}.clean`, 'exec cat'),
    [`filter.${names[file]}.smudge`]: await stage.script(`${label}.smudge`, 'exec cat'),
    [`filter.${names[file]}.required`]: 'true',
  }
}

const layFilter = async (stage: Stage, scope: Scope, file: FileName): Promise<void> => {
  for (const [key, value] of Object.entries(await filterSettings(stage, file)))
    await stage.setting(scope, key, value)
}

/** Clean, smudge and process filters from every place that a setting or an attribute can come from. */
export async function layFilters(stage: Stage): Promise<void> {
  const { directory, home, root } = stage.repository
  const here = [
    'plain.txt',
    'dotted.txt',
    'equals.txt',
    'quote.txt',
    'separator.txt',
    'accent.txt',
    'empty.txt',
    'long.txt',
    'by-info.txt',
    'by-user-attribute.txt',
  ] as const
  for (const file of here) await layFilter(stage, 'local', file)
  await layFilter(stage, 'global', 'by-user.txt')
  await layFilter(stage, 'worktree', 'in-worktree.txt')
  await stage.attribute('by-info.txt filter=by-info')

  const userAttributes = join(home, '.config', 'git', 'attributes')
  await stage.setting('global', 'core.attributesFile', userAttributes)
  await mkdir(dirname(userAttributes), { recursive: true })
  await writeFile(userAttributes, 'by-user-attribute.txt filter=by-user-attribute\n')

  // Only the new worktree's own Git directory fulfils this condition.
  const conditional = await stage.settingsFile('conditional', await filterSettings(stage, 'conditional.txt'))
  await stage.setting('local', 'includeIf.gitdir:**/worktrees/**.path', conditional)
  const byRemote = await stage.settingsFile('by-remote', await filterSettings(stage, 'by-remote.txt'))
  await stage.setting('global', 'includeIf.hasconfig:remote.*.url:**.path', byRemote)

  await stage.setting('local', 'filter.process.process', await stage.script('filter.process', incapable))
  stage.expected.add('filter.process')

  stage.springs.push({ args: ['add', '--renormalize', '.'], cwd: root })
  const worktree = join(directory, 'sprung')
  stage.springs.push({ args: ['worktree', 'add', '--quiet', '--detach', worktree, 'main'], cwd: root })
  stage.springs.push({ args: ['add', '--renormalize', '.'], cwd: worktree })
}
