import { describe, expect, it } from 'vitest'
import { gitFaultNames, gitFaults } from './git-faults.ts'
import { launchTable } from './launch-table.ts'
import { placeNames } from './places.ts'
import { launchTables } from './render.ts'

describe('the fault table of a launch', () => {
  it.each(placeNames)('has a cell or a reason for every fault at %s', (name) => {
    expect(Object.keys(launchTable[name]).sort()).toEqual([...gitFaultNames].sort())
  })

  it('shows every fault in the table of every place, once', () => {
    const [, ...tables] = launchTables().split('### ')
    expect(tables).toHaveLength(placeNames.length)
    for (const table of tables) {
      const shown = table.split('\n').flatMap((row) => (row.split(' | ')[0] ?? '').slice(2).split('; '))
      for (const fault of gitFaultNames)
        expect(shown.filter((name) => name === gitFaults[fault][0])).toHaveLength(1)
    }
  })
})
