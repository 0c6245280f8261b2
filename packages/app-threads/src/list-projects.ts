import { defineRead } from '@codex-thread-bridge/core/contract'
import { Type } from 'typebox'
import { HOST } from './input.ts'
import { examples } from './list-projects.examples.ts'
import { isInGit, listProjects as projectsOf } from './projects.ts'

const NONE =
  'There is no project. Open a directory as a project in Codex, or start the bridge with --project PATH; create_thread with target.type "projectless" needs none.'

/** list_projects (contract: app-threads). `operators` are the real paths that the operator named. */
export const listProjects = (operators: readonly string[]) =>
  defineRead({
    name: 'list_projects',
    title: 'List the projects that threads can be created in',
    description:
      'Lists the projects of the Codex App Server and the directories that the operator of this bridge named, with the projectId that create_thread takes. isGitRepository: the directory is in a Git checkout, so that create_thread can give the thread a worktree of its own. No project is guessed from existing threads; when there is none, hint says how to add one.',
    input: Type.Object({}, { additionalProperties: false }),
    output: Type.Object({
      projects: Type.Array(
        Type.Object({
          projectId: Type.String(),
          projectKind: Type.String(),
          label: Type.String(),
          path: Type.String(),
          hostId: Type.String(),
          isGitRepository: Type.Boolean(),
        }),
      ),
      hint: Type.Optional(Type.String()),
    }),
    uses: ['project/list'],
    examples,

    async run(ctx) {
      const found = await projectsOf(ctx, operators)
      const projects = await Promise.all(
        found.map(async ({ projectId, label, path }) => ({
          projectId,
          projectKind: 'local',
          label,
          path,
          hostId: HOST,
          isGitRepository: await isInGit(path),
        })),
      )
      return { projects, ...(projects.length === 0 ? { hint: NONE } : {}) }
    },
  })
