import { BridgeError, given, type MutationContext } from '@codex-thread-bridge/core/contract'
import { judgeSource, type Git } from '@codex-thread-bridge/core/git'
import { requestAccess, type AllowedProfiles, type WantedAccess } from '@codex-thread-bridge/core/policy'
import { resolveCwd } from '@codex-thread-bridge/core/threads'
import type { Target } from './create-target.ts'
import { checkoutAround, directoryIn, startingPoint } from './git/starting-point.ts'
import { makeWorktree, worktreePath } from './git/worktree.ts'
import { dayOf, directoryName, makeDirectory } from './projectless.ts'
import { findProject, isInGit } from './projects.ts'

export interface PlaceOptions {
  /** Real paths that the operator named as projects. */
  readonly projects: readonly string[]
  /** Where directories of threads without a project are made. */
  readonly documentsRoot: string
  /** Where worktrees are made. */
  readonly worktreesDir: string
  readonly git: Git
  readonly allowedProfiles: AllowedProfiles
}

/** A new thread, as far as its place depends on it. */
export interface Placed {
  readonly target: Target
  readonly title: string | undefined
  readonly access: WantedAccess
}

/** Where a new thread works. */
export interface Place {
  readonly cwd: string
  readonly projectId?: string
  readonly runtimeWorkspaceRoots?: readonly string[]
}

type Placing = MutationContext<'project/list' | 'permissionProfile/list'>

/** A thread that could not be started must not leave its place behind. @throws BridgeError permission_profile_unavailable */
const checkAccess = async (
  ctx: Placing,
  cwd: string,
  { access }: Placed,
  { allowedProfiles }: PlaceOptions,
): Promise<void> => {
  requestAccess(access, await allowedProfiles(ctx, cwd))
}

const ownDirectory = async (ctx: Placing, placed: Placed, options: PlaceOptions): Promise<Place> => {
  const { documentsRoot } = options
  await ctx.judge('The new directory', { cwd: documentsRoot })
  await checkAccess(ctx, documentsRoot, placed, options)
  const name = directoryName(placed.target.directoryName ?? placed.title ?? '')
  const day = dayOf(new Date(ctx.clock.now()))
  const cwd = await ctx.step('create_directory', () => makeDirectory(documentsRoot, day, name), {
    access: { cwd: documentsRoot },
    record: (directory) => ({ directory }),
  })
  return { cwd }
}

const inWorktree = async (
  ctx: Placing,
  cwd: string,
  placed: Placed,
  options: PlaceOptions,
): Promise<Place> => {
  const { git, worktreesDir } = options
  await ctx.judge('The new worktree', { cwd, roots: [worktreesDir] })
  const source = await checkoutAround(git, cwd, {
    field: 'target.environment.type',
    hint: 'Use environment {"type": "local"}.',
  })
  await judgeSource(ctx, source)
  const point = await startingPoint(git, source, cwd, placed.target.environment?.startingState)
  await checkAccess(ctx, cwd, placed, options)
  const path = await worktreePath(worktreesDir, point, ctx.receipt.requestId)
  await makeWorktree(ctx, git, point, path)
  const place = directoryIn(path, point.directory)
  return { cwd: place, runtimeWorkspaceRoots: [place] }
}

/**
 * The directory of a new thread, made where it must be.
 * @throws BridgeError unknown_project, invalid_cwd, invalid_source_repository, unknown_revision, git_*, uncarried_changes,
 *   permission_profile_unavailable: nothing was made
 */
export const placeOf = async (ctx: Placing, placed: Placed, options: PlaceOptions): Promise<Place> => {
  const { projectId, environment } = placed.target
  if (projectId === undefined) return ownDirectory(ctx, placed, options)
  const project = await findProject(ctx, options.projects, projectId)
  if (project === undefined)
    throw new BridgeError('unknown_project', `There is no project ${JSON.stringify(projectId)}.`, {
      field: 'target.projectId',
      next: 'fix_call',
      hint: 'Use a projectId of list_projects.',
    })
  const assigned = given({ projectId: project.record ? project.projectId : undefined })
  const cwd = await resolveCwd(
    project.path,
    'target.projectId',
    'Use another project of list_projects, or make its directory again.',
  )
  const kind = environment?.type ?? ((await isInGit(cwd)) ? 'worktree' : 'local')
  return kind === 'local'
    ? { cwd, ...assigned }
    : { ...(await inWorktree(ctx, cwd, placed, options)), ...assigned }
}
