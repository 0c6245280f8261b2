import type { Cell, Expected, Told } from './cell.ts'
import { destinations } from './destination.ts'
import { faultNames, faults, type Fault } from './faults.ts'
import { matrix } from './matrix.ts'
import { stepNames, steps, type StepName } from './steps.ts'

const ways = {
  create: '`create_thread`',
  launch: '`create_worktree_thread`',
  send: '`send_message_to_thread`',
  steer: '`send_message_to_thread`, `if_busy: "steer"`',
  queue: '`send_message_to_thread`, `if_busy: "queue"`',
  restore: '`send_message_to_thread`, `on_settings_drift: "restore"`',
} as const

const stepWords = (name: StepName): string => {
  const { way, method, nth } = steps[name]
  return `${ways[way]}: \`${method}\`${nth === 1 ? '' : ', which reads the settings back'}`
}

export const told = ({ status, next, ids }: Told): string => {
  const known = ids.length === 0 ? '' : ` (${ids.join(', ')})`
  return status === 'error' ? `error, \`${next}\`` : `\`${status}\`, \`${next}\`${known}`
}

export const lookedUp = ({ told: first, verdict, after }: Cell): string => {
  if (first.status === 'error') return `no receipt; repeated: ${told(after)}`
  if (verdict !== null) return `\`${verdict}\`: ${told(after)}`
  const same = told(first) === told(after)
  return same ? 'nothing is left to find out' : `later: ${told(after)}`
}

export const count = (n: number, what: string): string => `${n === 0 ? 'no' : n} ${what}`

const effect = (name: StepName, { threads, messages, launch }: Cell): string =>
  [
    ...(steps[name].tool === 'send_message_to_thread' ? [] : [count(threads, 'thread')]),
    count(messages, 'message'),
    ...(launch === undefined ? [] : [destinations[launch.destination][0]]),
  ].join(', ')

const columns = (name: StepName, cell: Cell): readonly string[] => [
  told(cell.told),
  lookedUp(cell),
  effect(name, cell),
]

const cellsOf = (expected: Expected): readonly (readonly [string, Cell])[] =>
  'later' in expected
    ? [
        [' (App Server up to 0.154)', expected.upTo154],
        [' (later ones)', expected.later],
      ]
    : [['', expected]]

/** The faults of one step that end alike, in one row. */
const rowsOf = (name: StepName): string[] => {
  const alike = new Map<string, string[]>()
  const put = (fault: Fault): void => {
    for (const [where, cell] of cellsOf(matrix[name][fault])) {
      const end = columns(name, cell).join(' | ')
      alike.set(end, [...(alike.get(end) ?? []), `${faults[fault][0]}${where}`])
    }
  }
  faultNames.forEach(put)
  return [...alike].map(([end, when]) => `| ${when.join('; ')} | ${end} |`)
}

const legend = (): string =>
  [
    '| fault | what happens |',
    '| --- | --- |',
    ...faultNames.map((fault) => `| ${faults[fault].join(' | ')} |`),
  ].join('\n')

const tableOf = (name: StepName): string =>
  [
    `### ${stepWords(name)}`,
    '',
    '| fault | you are told | `get_operation` with `reconcile: true` | what is there |',
    '| --- | --- | --- | --- |',
    ...rowsOf(name),
  ].join('\n')

/** The matrix: its faults, then one table a step. */
export const faultTables = (): string => [legend(), ...stepNames.map(tableOf)].join('\n\n')
