import { cpus, loadavg, platform } from 'node:os'
import { NEWEST_CODEX } from '@codex-thread-bridge/test-fixtures'
import type { Row, Summary, Unit } from './row.ts'

/** What a run was made on. */
export interface Machine {
  readonly node: string
  readonly platform: string
  readonly cores: number
  readonly codex: string
  /** Of the last minute, at the end: near the number of cores or above, others were working here. */
  readonly load: number
}

export const machine = (): Machine => ({
  node: process.versions.node,
  platform: platform(),
  cores: cpus().length,
  codex: NEWEST_CODEX,
  load: loadavg()[0] ?? NaN,
})

/** The rows as a Markdown table that reads well as it is. */
export const tableOf = (rows: readonly Row[]): string => {
  const cells = [['what', 'ours', 'p95', 'baseline', 'p95', 'compared', 'goal', ''], ...rows.map(cellsOf)]
  const widths = (cells[0] ?? []).map((_, column) =>
    Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)),
  )
  const [head = '', ...lines] = cells.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`,
  )
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`
  return [head, rule, ...lines].join('\n')
}

const cellsOf = ({ what, unit, ours, baseline, ratio, goal, met }: Row): string[] => [
  what,
  amount(ours.median, unit),
  spread(ours, unit),
  baseline === undefined ? '' : amount(baseline.median, unit),
  baseline === undefined ? '' : spread(baseline, unit),
  ratio === undefined ? '' : compared(ratio, ours.median - (baseline?.median ?? 0), unit),
  goal ?? '',
  met === undefined ? '' : met ? 'ok' : 'over',
]

const compared = (ratio: number, difference: number, unit: Unit): string =>
  `${ratio.toFixed(2)}×, ${difference < 0 ? '' : '+'}${amount(difference, unit)}`

const spread = ({ p95, samples }: Summary, unit: Unit): string => (samples === 1 ? '' : amount(p95, unit))

const amount = (value: number, unit: Unit): string =>
  unit === 'bytes' || unit === 'calls'
    ? `${value.toLocaleString('en-US', { maximumFractionDigits: 1 })} ${unit}`
    : `${value.toFixed(decimals(value, unit))} ${unit}`

const decimals = (value: number, unit: Unit): number => (unit === 'MB' ? 1 : Math.abs(value) < 0.1 ? 3 : 2)
