import { destinations } from '../fault-matrix/destination.ts'
import { count, lookedUp, told } from '../fault-matrix/render.ts'
import type { Cell } from '../fault-matrix/cell.ts'
import { gitFaultNames, gitFaults, type GitFault } from './git-faults.ts'
import { launchTable } from './launch-table.ts'
import { placeNames, places, type PlaceName } from './places.ts'

const columns = (cell: Cell): readonly string[] => [
  `${told(cell.told)}${cell.told.code === null ? '' : `: \`${cell.told.code}\``}`,
  lookedUp(cell),
  cell.launch === undefined ? '' : destinations[cell.launch.destination][0],
  `${count(cell.threads, 'thread')}, ${count(cell.messages, 'message')}`,
]

/** The faults of one place that end alike, in one row; those that cannot happen come last. */
const rowsOf = (name: PlaceName): string[] => {
  const alike = new Map<string, string[]>()
  const put = (end: string, fault: GitFault): void => {
    alike.set(end, [...(alike.get(end) ?? []), gitFaults[fault][0]])
  }
  const impossible: [string, GitFault][] = []
  for (const fault of gitFaultNames) {
    const cell = launchTable[name][fault]
    if ('because' in cell) impossible.push([`cannot happen: ${cell.because} | | |`, fault])
    else put(columns(cell).join(' | '), fault)
  }
  for (const [end, fault] of impossible) put(end, fault)
  return [...alike].map(([end, when]) => `| ${when.join('; ')} | ${end} |`)
}

const tableOf = (name: PlaceName): string =>
  [
    `### At ${places[name].words}`,
    '',
    '| fault | you are told | `get_operation` with `reconcile: true` | at the destination | on the App Server |',
    '| --- | --- | --- | --- | --- |',
    ...rowsOf(name),
  ].join('\n')

const legend = (): string =>
  [
    '| fault | what happens |',
    '| --- | --- |',
    ...gitFaultNames.map((fault) => `| ${gitFaults[fault].join(' | ')} |`),
  ].join('\n')

/** The faults of Git, the file system and the bridge, then one table a place. */
export const launchTables = (): string => [legend(), ...placeNames.map(tableOf)].join('\n\n')
