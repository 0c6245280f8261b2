import { describe, expect, it } from 'vitest'
import { faultNames, faults } from './faults.ts'
import { matrix } from './matrix.ts'
import { faultTables } from './render.ts'
import { stepNames } from './steps.ts'

describe('the fault matrix', () => {
  it.each(stepNames)('has no empty cell at %s', (name) => {
    expect(Object.keys(matrix[name]).sort()).toEqual([...faultNames].sort())
  })

  it('shows every fault in the table of every step', () => {
    const [, ...tables] = faultTables().split('### ')
    expect(tables).toHaveLength(stepNames.length)
    for (const table of tables) {
      const shown = table.split('\n').flatMap((row) => (row.split(' | ')[0] ?? '').slice(2).split('; '))
      for (const fault of faultNames)
        expect(shown.filter((name) => name.replace(/ \(.*\)$/, '') === faults[fault][0])).not.toEqual([])
    }
  })
})
