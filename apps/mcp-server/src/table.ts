import { printable } from './printable.ts'

/** Rows as text: columns aligned, two spaces between them, no space at a line's end; what controls a terminal escaped. */
export const table = (texts: readonly (readonly string[])[]): string => {
  const rows = texts.map((row) => row.map(printable))
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  const line = (row: readonly string[]): string =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return rows.map((row) => line(row).trimEnd()).join('\n')
}
