import { testedVersions } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sourceOf } from './destination.ts'
import { faults, type Fault } from './faults.ts'
import { cellFor } from './matrix.ts'
import { playColumn, type Column } from './play.ts'
import type { Stage } from './scene.ts'
import { openStage } from './stage.ts'
import { stepNames, steps } from './steps.ts'

/** Two ways of a message need a drifted thread each. */
const DRIFTED_A_COLUMN = 2
const COLUMN_MS = 240_000

/** Plays these columns of the matrix on each tested App Server, and holds every cell against what was observed. */
export const describeColumns = (columns: readonly Fault[]): void => {
  describe.each(testedVersions)('on App Server %s', (version) => {
    let stage: Stage
    let source: readonly string[]
    beforeAll(async () => {
      stage = await openStage(version, columns.length * DRIFTED_A_COLUMN)
      source = await sourceOf(stage.repository)
    })
    afterAll(async () => {
      await stage?.world.close()
      await stage?.repository.remove()
    })

    describe.each(columns.map((fault) => ({ fault, words: faults[fault].join(': ') })))(
      '$words:',
      ({ fault }) => {
        let column: Column
        beforeAll(async () => {
          column = await playColumn(stage, fault)
        }, COLUMN_MS)

        it('leaves the source of the launches as it is, byte for byte', async () => {
          expect(await sourceOf(stage.repository)).toEqual(source)
        })

        it.each(stepNames.map((name) => ({ name, ...steps[name] })))(
          '$tool ($way, $method) ends as the matrix says',
          ({ name }) => {
            const played = column.get(name)
            if (played === undefined || played instanceof Error) throw played ?? new Error('not played')
            expect(played.broken).toEqual([])
            expect(played.cell).toEqual(cellFor(name, fault, version))
          },
        )
      },
    )
  })
}
