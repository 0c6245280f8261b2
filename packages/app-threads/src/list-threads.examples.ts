import type { Example } from '@codex-thread-bridge/core/contract'

const thread = (id: string, section: string | null) => ({
  id,
  cwd: '/work/parser',
  status: { type: 'notLoaded' },
  name: null,
  preview: 'Read src/parser.ts and list what is wrong with it.',
  updatedAt: 1_796_058_799,
  projectId: null,
  section: section === null ? null : { id: section, name: 'Pinned' },
})

/** One pinned thread and one other. */
export const examples: readonly Example[] = [
  {
    input: {},
    answers: {
      'threadSection/list': { data: [{ id: 'pinned', name: 'Pinned' }], nextCursor: null },
      'thread/list': {
        each: [
          { data: [thread('01a22d6c-ee00-7d30-84f1-a4cd16c32862', 'pinned')], nextCursor: null },
          { data: [thread('01a22d6c-ee10-7d30-84f1-a4cd16c32862', null)], nextCursor: null },
        ],
      },
    },
  },
]
