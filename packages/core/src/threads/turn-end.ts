import type { ServerInfo } from '../contract/app-server.ts'
import type { ThreadStatus, Turn } from '../protocol/items.ts'
import { timeOfId } from './find.ts'

/** Two reads this far apart must agree before a doubtful end is believed. */
const AGREE_MS = 1_000

/** One look at a thread: its status and its newest turns, newest first. */
export interface Reading {
  /** When the look began, in milliseconds. */
  readonly at: number
  readonly status: ThreadStatus
  readonly turns: readonly Turn[]
  readonly server: ServerInfo | undefined
}

/**
 * What a reading says of a turn. `doubtful` is `interrupted` without `completedAt`: the shape of a turn that a stopped
 * server cut off, and for some milliseconds that of one that just begins or just failed.
 */
export type TurnState = 'unseen' | 'running' | 'doubtful' | 'ended'

const NS_PER_MS = 1_000_000n
const MS_PER_SECOND = 1_000

/** The latest moment at which the turn can have begun: its id's time, else the end of the second that it tells. */
const begunBy = (turn: Turn): number | undefined =>
  timeOfId(turn.id) ?? (typeof turn.startedAt === 'number' ? (turn.startedAt + 1) * MS_PER_SECOND : undefined)

/** Whether the server that answers was started after the turn began: then it cannot be running it. */
const restartedSince = (turn: Turn, server: ServerInfo | undefined): boolean => {
  const begun = begunBy(turn)
  return (
    server !== undefined &&
    begun !== undefined &&
    BigInt(server.socketMtimeNs) / NS_PER_MS > BigInt(Math.ceil(begun))
  )
}

/** A turn that the thread has left behind, or that no loaded thread can be running. */
const mayBeOver = ({ status, turns }: Reading, turn: Turn): boolean =>
  status.type === 'idle' || status.type === 'notLoaded' || turns[0] !== turn

/** The state of one turn in one reading. */
export const turnState = (reading: Reading, turnId: string): TurnState => {
  const turn = turnIn(reading, turnId)
  if (turn === undefined) return 'unseen'
  if (turn.status === 'inProgress') return 'running'
  if (turn.status !== 'interrupted' || typeof turn.completedAt === 'number') return 'ended'
  if (restartedSince(turn, reading.server)) return 'ended'
  return mayBeOver(reading, turn) ? 'doubtful' : 'running'
}

export const turnIn = ({ turns }: Reading, turnId: string): Turn | undefined =>
  turns.find(({ id }) => id === turnId)

/** The turns of one thread that looked interrupted, since when. */
export class Doubts {
  readonly #since = new Map<string, number>()

  /** Whether the turn has ended, with this reading and those before it. */
  ended(reading: Reading, turnId: string): boolean {
    const state = turnState(reading, turnId)
    if (state !== 'doubtful') {
      this.#since.delete(turnId)
      return state === 'ended'
    }
    const since = this.#since.get(turnId) ?? reading.at
    this.#since.set(turnId, since)
    return reading.at - since >= AGREE_MS
  }

  get any(): boolean {
    return this.#since.size > 0
  }

  forget(turnId: string): void {
    this.#since.delete(turnId)
  }
}
