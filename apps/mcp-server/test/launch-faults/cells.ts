import type { Cell, Told } from '../fault-matrix/cell.ts'
import type { Destination } from '../fault-matrix/destination.ts'
import type { GitFault } from './git-faults.ts'
import { places, type PlaceName } from './places.ts'

/** A fault that cannot happen at a place, and why. */
export interface Impossible {
  readonly because: string
}
export type Expected = Cell | Impossible
/** Every fault has a cell or a reason: a row does not compile with an empty one. */
export type Row = Readonly<Record<GitFault, Expected>>

type Next = Told['next']

export const impossible = (because: string): Impossible => ({ because })

/** The same under several faults. */
export const under = <const F extends GitFault>(faults: readonly F[], cell: Expected): Record<F, Expected> =>
  Object.fromEntries(faults.map((fault) => [fault, cell])) as Record<F, Expected>

const acceptedAs: Told = { status: 'accepted', next: 'none', code: null, ids: ['threadId', 'turnId'] }
const done = { threads: 1, messages: 1, launch: { destination: 'whole', phase: 'complete' } } as const

export const accepted: Cell = { told: acceptedAs, verdict: null, after: acceptedAs, ...done }

const refused = (next: Next, code: string): Told => ({ status: 'error', next, code, ids: [] })

/** No receipt; the repeated call does what was asked for, when the fault is over. */
export const passing = (next: Next, code: string): Cell => ({ ...accepted, told: refused(next, code) })

/** No receipt, and what stands there is somebody else's: repeating changes nothing. */
export const lasting = (code: string): Cell => {
  const told = refused('fix_call', code)
  return {
    told,
    verdict: null,
    after: told,
    threads: 0,
    messages: 0,
    launch: { destination: 'theirs', phase: null },
  }
}

/** The thread exists once the worktree is looked at for the last time; the prompt never left. */
const withThread = (name: PlaceName) => (name === 'dispatch' ? 1 : 0)
const idsAt = (name: PlaceName): Told['ids'] => (name === 'dispatch' ? ['threadId'] : [])

/** What the cells of one place have in common. */
export const endsAt = (name: PlaceName) => {
  const { phase: here } = places[name]
  const left = (destination: Destination, phase: string) => ({
    threads: withThread(name),
    messages: 0,
    launch: { destination, phase },
  })
  const failed = (
    code: string,
    destination: Destination,
    phase: string = here,
    next: Next = 'inspect',
  ): Cell => {
    const told: Told = { status: 'failed', next, code, ids: idsAt(name) }
    return { told, verdict: null, after: told, ...left(destination, phase) }
  }
  /** Nobody knows at first; Git says what stands there. */
  const interrupted = (destination: Destination): Cell => ({
    told: { status: 'outcome_unknown', next: 'reconcile', code: 'interrupted', ids: idsAt(name) },
    verdict: 'created_incomplete',
    after: {
      status: 'failed',
      next: destination === 'nothing' ? 'new_request_id' : 'inspect',
      code: 'not_completed',
      ids: idsAt(name),
    },
    ...left(destination, here),
  })
  return { failed, interrupted }
}
