import type { Receipt } from '@codex-thread-bridge/core/ledger'
import { execa } from 'execa'
import type { Answer, Bridge } from '../fault-matrix/bridges.ts'
import type { Cell } from '../fault-matrix/cell.ts'
import { sourceOf, standingAt } from '../fault-matrix/destination.ts'
import { launchPromises } from '../fault-matrix/launch-promises.ts'
import { toldOf, written } from '../fault-matrix/observe.ts'
import type { Site } from './site.ts'

export interface Played {
  readonly cell: Cell
  readonly broken: readonly string[]
}

interface Ended {
  /** The one that is asked from now on. */
  readonly bridge: Bridge
  readonly told: Answer
  /** The source's files before the call. */
  readonly before: readonly string[]
}

/** Faults in which somebody else changes the source or its refs. */
const CHANGES_SOURCE = ['indexLocked', 'otherHead', 'branched']

/** What became of a launch: by its receipt, and by what really is there. */
export const observe = async (site: Site, { bridge, told, before }: Ended): Promise<Played> => {
  const { fault, lane, requestId, marker, args, repository, destination, stage } = site
  if (fault.startsWith('diskFull')) await written(bridge, requestId, 'error' in told)
  const looked = 'error' in told ? told : await bridge.reconcile(requestId)
  const sent = lane.mutations()
  const replay = await bridge.call('create_worktree_thread', args)
  const resent = lane.mutations() - sent
  const last = 'error' in told ? replay : looked

  const threads = await stage.truth.threadsWith(marker)
  const messages = await Promise.all(threads.map((id) => stage.truth.messages(id, args.prompt)))
  const standing = await standingAt(repository, destination, requestId)
  const unchanged = CHANGES_SOURCE.includes(fault) || same(before, await sourceOf(repository))
  const receipt = 'receipt' in last ? last.receipt : undefined
  const evidence = 'receipt' in looked ? looked.receipt.reconciliation : undefined
  const promises: [boolean, string][] = [
    [unchanged, 'the source is not as it was'],
    ['error' in told || resent === 0, `the replay sent ${resent} requests`],
    ['error' in told || ('receipt' in replay && replay.receipt.replayed === true), 'the replay is none'],
    ...(receipt === undefined ? [] : launchPromises(receipt, standing)),
    [await cleanedUp(site, receipt), 'what `recovery` says does not clean up'],
  ]
  return {
    cell: {
      told: toldOf(told),
      verdict: toldOf(told).status === 'accepted' ? null : (evidence?.verdict ?? null),
      after: toldOf(last),
      threads: threads.length,
      messages: messages.flat().length,
      launch: { destination: standing, phase: receipt === undefined ? null : String(receipt.phase) },
    },
    broken: promises.flatMap(([holds, otherwise]) => (holds ? [] : [`${requestId}: ${otherwise}`])),
  }
}

/** Whether what the receipt says of cleaning up, done by hand, leaves nothing of ours. */
const cleanedUp = async (site: Site, receipt: Receipt | undefined): Promise<boolean> => {
  if (receipt?.recoveryRequired !== true) return true
  const commands = String(receipt.recovery).matchAll(/with: (.+?)(?:\. If |$)/g)
  for (const [, command = ''] of commands) await execa('sh', ['-c', command], { reject: false })
  return ['nothing', 'theirs'].includes(await standingAt(site.repository, site.destination, site.requestId))
}

const same = (one: readonly string[], other: readonly string[]): boolean =>
  one.join('\n') === other.join('\n')
