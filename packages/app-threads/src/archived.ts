import type { Thread } from '@codex-thread-bridge/core/protocol'

/** Where the App Server keeps the rollouts of archived threads: a thread itself does not tell. */
const ARCHIVED = /[\\/]archived_sessions[\\/]/

export const isArchived = ({ path }: Thread): boolean => ARCHIVED.test(path ?? '')
