import type { Item, Turn } from '../protocol/items.ts'
import { clipTexts } from './clip.ts'
import { jsonBytes } from './result-budget.ts'

/** A turn of which something may be left out. */
export type ShownTurn = Turn & { readonly omittedItems?: number }

export interface FittedTurns {
  readonly turns: ShownTurn[]
  /** How many texts are shortened. */
  readonly count: number
  /** How many items are stubs or not there at all. */
  readonly omitted: number
}

interface Sized {
  readonly item: Item
  readonly count: number
  readonly bytes: number
  readonly stub: Item & { readonly omitted: true }
  readonly stubBytes: number
}

/** What of a turn may be shown: its items from `from` on, each whole or as a stub. */
interface Plan {
  readonly shell: Turn
  readonly shellCount: number
  readonly items: readonly Sized[]
  readonly whole: Set<Sized>
  from: number
}

const COMMA = 1

const sized = (original: Item, maxChars: number): Sized => {
  const { value: item, count } = clipTexts(original, maxChars)
  const stub = { id: item.id, type: item.type, omitted: true } as const
  return { item, count, stub, bytes: jsonBytes(item) + COMMA, stubBytes: jsonBytes(stub) + COMMA }
}

const planned = (turn: Turn, maxChars: number): Plan => {
  const { value: shell, count: shellCount } = clipTexts({ ...turn, items: [] }, maxChars)
  const items = turn.items.map((item) => sized(item, maxChars))
  return { shell, shellCount, items, whole: new Set(), from: 0 }
}

const sum = <T>(values: readonly T[], of: (value: T) => number): number =>
  values.reduce((total, value) => total + of(value), 0)

/** A stub that is not shorter than its item saves nothing. */
const smallest = ({ bytes, stubBytes }: Sized): number => Math.min(bytes, stubBytes)

/** Gives up the items of the oldest turns until all others are within `room` as stubs. Returns what those take. */
const leaveOutOldest = (plans: readonly Plan[], room: number): number => {
  let stubs = sum(plans, ({ items }) => sum(items, smallest))
  for (const plan of plans.slice(1).reverse()) {
    if (stubs <= room) return stubs
    stubs -= sum(plan.items, smallest)
    plan.from = plan.items.length
  }
  // The newest turn keeps as many of its newest items as it can.
  const [newest] = plans
  for (const item of newest?.items ?? []) {
    if (newest === undefined || stubs <= room) break
    stubs -= smallest(item)
    newest.from += 1
  }
  return stubs
}

/** Shows items whole, the newest first, as long as they fit; one that no answer could hold is passed over. */
const showNewest = (plans: readonly Plan[], room: number): void => {
  let free = room
  for (const { items, from, whole } of plans) {
    for (const item of items.slice(from).reverse()) {
      const more = item.bytes - smallest(item)
      if (more > room) continue
      if (more > free) return
      whole.add(item)
      free -= more
    }
  }
}

const isWhole = ({ whole, from }: Plan, item: Sized, place: number): boolean =>
  place >= from && (whole.has(item) || item.bytes <= item.stubBytes)

const shown = (plan: Plan): FittedTurns => {
  const { shell, shellCount, items, from } = plan
  const kept = items.filter((item, place) => isWhole(plan, item, place))
  const turn: ShownTurn = {
    ...shell,
    items: items.map((item, place) => (isWhole(plan, item, place) ? item.item : item.stub)).slice(from),
    ...(from === 0 ? {} : { omittedItems: from }),
  }
  return {
    turns: [turn],
    count: shellCount + sum(kept, ({ count }) => count),
    omitted: items.length - kept.length,
  }
}

/**
 * Turns, newest first, with texts of at most `maxChars` code points, within `bytes` of JSON: the oldest items become
 * `{id, type, omitted: true}`; when there are too many even so, whole turns lose theirs (`omittedItems`), and the newest
 * turn its oldest. Undefined when the turns do not fit without items. Linear in their size.
 */
export const fitTurns = (
  turns: readonly Turn[],
  maxChars: number,
  bytes: number,
): FittedTurns | undefined => {
  const plans = turns.map((turn) => planned(turn, maxChars))
  const shells = sum(plans, ({ shell, items }) => jsonBytes({ ...shell, omittedItems: items.length }) + COMMA)
  const room = bytes - shells
  if (room < 0) return undefined
  const all = sum(plans, ({ items }) => sum(items, (item) => item.bytes))
  if (all <= room) showNewest(plans, all)
  else {
    const stubs = leaveOutOldest(plans, room / 2)
    showNewest(plans, room - stubs)
  }
  const parts = plans.map(shown)
  return {
    turns: parts.flatMap((part) => part.turns),
    count: sum(parts, ({ count }) => count),
    omitted: sum(parts, ({ omitted }) => omitted),
  }
}

/** What an answer says of the items that it leaves out. */
export const omittedNote = (omitted: number): string | undefined =>
  omitted === 0
    ? undefined
    : `${omitted.toLocaleString('en-US')} item(s) are left out so that the answer fits, the oldest first (omitted: true, or omittedItems of their turn): ask for fewer turns, or for shorter texts.`
