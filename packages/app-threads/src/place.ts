import { BridgeError, given, type MutationContext } from '@codex-thread-bridge/core/contract'
import type { Git } from '@codex-thread-bridge/core/git'
import { resolveCwd } from '@codex-thread-bridge/core/threads'
import type { Target } from './create-target.ts'
import { directoryIn, startingPoint } from './git/starting-point.ts'
import { makeWorktree, worktreePath } from './git/worktree.ts'
import { dayOf, directoryName, makeDirectory } from './projectless.ts'
import { findProject, isInGit, type Project } from './projects.ts'

export interface PlaceOptions {
  /** Real paths that the operator named as projects. */
  readonly projects: readonly string[]
  /** Where directories of threads without a project are made. */
  readonly documentsRoot: string
  /** Where worktrees are made. */
  readonly worktreesDir: string
  readonly git: Git
}

/** Where a new thread works. */
export interface Place {
  readonly cwd: string
  readonly projectId?: string
  readonly runtimeWorkspaceRoots?: readonly string[]
}

type Placing = MutationContext<'project/list'>

const ownDirectory = async (
  ctx: Placing,
  { directoryName: wanted }: Target,
  title: string | undefined,
  { documentsRoot }: PlaceOptions,
): Promise<Place> => {
  const name = directoryName(wanted ?? title ?? '')
  const day = dayOf(new Date(ctx.clock.now()))
  const cwd = await ctx.step('create_directory', () => makeDirectory(documentsRoot, day, name), {
    access: { cwd: documentsRoot },
    record: (directory) => ({ directory }),
  })
  return { cwd }
}

const inWorktree = async (
  ctx: Placing,
  project: Project,
  { environment }: Target,
  { git, worktreesDir }: PlaceOptions,
): Promise<Place> => {
  await ctx.judge('The new worktree', { cwd: project.path, roots: [worktreesDir] })
  const point = await startingPoint(git, project.path, environment?.startingState)
  const path = await worktreePath(worktreesDir, point, ctx.receipt.requestId)
  await makeWorktree(ctx, git, point, path)
  const cwd = directoryIn(path, point.directory)
  return { cwd, runtimeWorkspaceRoots: [cwd] }
}

/**
 * The directory of a new thread, made where it must be.
 * @throws BridgeError unknown_project, invalid_cwd, invalid_source_repository, unknown_revision, git_*, uncarried_changes
 */
export const placeOf = async (
  ctx: Placing,
  target: Target,
  title: string | undefined,
  options: PlaceOptions,
): Promise<Place> => {
  const { projectId } = target
  if (projectId === undefined) return ownDirectory(ctx, target, title, options)
  const project = await findProject(ctx, options.projects, projectId)
  if (project === undefined)
    throw new BridgeError('unknown_project', `There is no project ${JSON.stringify(projectId)}.`, {
      field: 'target.projectId',
      next: 'fix_call',
      hint: 'Use a projectId of list_projects.',
    })
  const assigned = given({ projectId: project.record ? project.projectId : undefined })
  const cwd = await resolveCwd(project.path, 'target.projectId')
  const kind = target.environment?.type ?? ((await isInGit(cwd)) ? 'worktree' : 'local')
  return kind === 'local'
    ? { cwd, ...assigned }
    : { ...(await inWorktree(ctx, { ...project, path: cwd }, target, options)), ...assigned }
}
