import { createHash } from 'node:crypto'
import { stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { AppServerError, type ReadContext } from '@codex-thread-bridge/core/contract'
import { realPathOf } from '@codex-thread-bridge/core/policy'
import { allRows } from '@codex-thread-bridge/core/threads'

/** A directory that threads can be made in. */
export interface Project {
  readonly projectId: string
  readonly label: string
  readonly path: string
  /** Whether the App Server has a record of it, which a thread can be assigned to. */
  readonly record: boolean
}

type Calls = Pick<ReadContext<'project/list'>, 'call'>

const ID_DIGITS = 16

/** The operator's directory as a project; its id follows from its path. */
const projectOfPath = (path: string): Project => ({
  projectId: `path-${createHash('sha256').update(path).digest('hex').slice(0, ID_DIGITS)}`,
  label: basename(path) || path,
  path,
  record: false,
})

const recorded = async (ctx: Calls): Promise<readonly Project[]> => {
  const records = await allRows((page) => ctx.call('project/list', page))
  return records.flatMap(({ id, name, roots = [] }) => {
    const path = roots[0]?.path
    return path === undefined ? [] : [{ projectId: id, label: name ?? basename(path), path, record: true }]
  })
}

/** The App Server's project records and the operator's directories; a directory that has a record is that record. */
export const listProjects = async (ctx: Calls, operators: readonly string[]): Promise<readonly Project[]> => {
  const records = await recorded(ctx).catch((error: unknown) => {
    if (AppServerError.is(error) && error.code === 'method_unavailable') return []
    throw error
  })
  const known = new Set(await Promise.all(records.map(async ({ path }) => (await realPathOf(path)) ?? path)))
  return [...records, ...operators.filter((path) => !known.has(path)).map(projectOfPath)]
}

/** The project of an id; the operator's are known without a call, also those that have a record by now. */
export const findProject = async (
  ctx: Calls,
  operators: readonly string[],
  projectId: string,
): Promise<Project | undefined> =>
  operators.map(projectOfPath).find((project) => project.projectId === projectId) ??
  (await recorded(ctx)).find((project) => project.projectId === projectId)

/** The id of the operator's project in a directory. */
export const operatorProjectIn = (operators: readonly string[], cwd: string): string | undefined =>
  operators.includes(cwd) ? projectOfPath(cwd).projectId : undefined

/** Whether a directory is in a Git checkout. */
export const isInGit = async (path: string): Promise<boolean> => {
  if (await stat(join(path, '.git')).catch(() => undefined)) return true
  const parent = dirname(path)
  return parent !== path && isInGit(parent)
}
