import { NEWEST_CODEX, startWorld } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTruth } from '../fault-matrix/truth.ts'
import { CannotBePlayed } from './acts.ts'
import { gitFaults, type GitFault } from './git-faults.ts'
import { launchTable } from './launch-table.ts'
import type { Played } from './observe.ts'
import { placeNames, places, type PlaceName } from './places.ts'
import { play } from './play.ts'
import type { Stage } from './site.ts'

const COLUMN_MS = 240_000

/** Plays these faults at every place where they can happen, and holds every cell against what was observed. */
export const describeColumns = (faults: readonly GitFault[]): void => {
  let stage: Stage
  beforeAll(async () => {
    const world = await startWorld({ version: NEWEST_CODEX, config: 'sandbox_mode = "danger-full-access"' })
    stage = { world, truth: await openTruth(world) }
  })
  afterAll(() => stage?.world.close())

  describe.each(faults.map((fault) => ({ fault, words: gitFaults[fault].join(': ') })))(
    'a launch, $words:',
    ({ fault }) => {
      const column = new Map<PlaceName, Played | Error>()
      const can = placeNames.filter((name) => !('because' in launchTable[name][fault]))
      beforeAll(async () => {
        const playAt = async (name: PlaceName): Promise<void> => {
          column.set(name, await play(stage, name, fault).catch((error: unknown) => asError(error)))
        }
        // Another launch makes this whole process stand still: no other cell may be under way then.
        if (fault === 'otherLaunch') for (const name of can) await playAt(name)
        else await Promise.all(can.map(playAt))
      }, COLUMN_MS)

      it.for(can.map((name) => ({ name, ...places[name] })))(
        'at $words ends as the table says',
        ({ name }, { skip }) => {
          const played = column.get(name)
          if (played instanceof CannotBePlayed) return skip(played.message)
          if (played === undefined || played instanceof Error) throw played ?? new Error('not played')
          expect(played.broken).toEqual([])
          expect(played.cell).toEqual(launchTable[name][fault])
        },
      )
    },
  )
}

const asError = (error: unknown): Error => (error instanceof Error ? error : new Error(String(error)))
