import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  deliveryMarker,
  endpointIdentity,
  type LedgerPort,
  type Receipt,
} from '@codex-thread-bridge/core/ledger'
import { createRepository, type Repository, type World } from '@codex-thread-bridge/test-fixtures'
import { launchArgs } from '../fault-matrix/destination.ts'
import { openLane, type Lane } from '../fault-matrix/lane.ts'
import type { Truth } from '../fault-matrix/truth.ts'
import type { GitFault } from './git-faults.ts'
import { places, type Place, type PlaceName } from './places.ts'
import { shells, standInGit, type StandIn } from './stand-in-git.ts'

export interface Stage {
  readonly world: World
  readonly truth: Truth
}

/** One cell, ready to be played: a repository, a ledger and a Git of its own. */
export interface Site {
  readonly stage: Stage
  readonly place: Place
  readonly fault: GitFault
  readonly lane: Lane
  readonly repository: Repository
  readonly git: StandIn
  /** Holds the destination and nothing else. */
  readonly parent: string
  readonly destination: string
  readonly requestId: string
  readonly marker: string
  readonly args: Readonly<Record<string, unknown>> & { readonly prompt: string }
  /** What ends the fault. */
  readonly undo: (() => unknown)[]
  close(): Promise<void>
}

/** What the stand-in does, where the fault is Git's. */
const shellOf = (fault: GitFault): keyof typeof shells | undefined => {
  if (fault === 'bridgeKilledDuring' || fault === 'bothKilled') return 'killsBridge'
  return fault in shells ? (fault as keyof typeof shells) : undefined
}

let sites = 0

export const openSite = async (stage: Stage, name: PlaceName, fault: GitFault): Promise<Site> => {
  const place: Place = places[name]
  const repository = await createRepository()
  const lane = await openLane(stage.world)
  const requestId = `${fault}-${name}-${(sites += 1)}`
  const parent = join(repository.directory, 'parent')
  const destination = join(parent, 'there')
  mkdirSync(parent)
  const shell = shellOf(fault)
  const command = fault === 'gitTooOld' ? { command: 'version', nth: 1 } : place.git
  return {
    stage,
    place,
    fault,
    lane,
    repository,
    git: standInGit(join(repository.directory, 'bin'), command, shell && shells[shell]),
    parent,
    destination,
    requestId,
    marker: deliveryMarker(endpointIdentity(lane.socketPath), requestId),
    args: {
      request_id: requestId,
      prompt: `text of ${requestId}`,
      ...launchArgs(repository, destination),
    },
    undo: [],
    close: async () => {
      await lane.close()
      await repository.remove()
    },
  }
}

/** The same ledger, with something done once, right after a receipt of a kind was written. */
export const afterWriting =
  (kind: (receipt: Receipt) => boolean, act: () => void) =>
  (ledger: LedgerPort): LedgerPort => {
    let done = false
    const wrote = (receipt: Receipt): void => {
      if (done || !kind(receipt)) return
      done = true
      act()
    }
    return {
      ...ledger,
      claim: (row) => {
        const claimed = ledger.claim(row)
        wrote(row.receipt)
        return claimed
      },
      save: (receipt) => {
        ledger.save(receipt)
        wrote(receipt)
      },
    }
  }
