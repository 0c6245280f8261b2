import type { Cell, Row } from './cell.ts'
import { createCells } from './create-cells.ts'
import type { Fault } from './faults.ts'
import { launchCells } from './launch-cells.ts'
import { sendCells } from './send-cells.ts'
import type { StepName } from './steps.ts'

/** How every fault at every step ends. */
export const matrix: Readonly<Record<StepName, Row>> = {
  ...createCells,
  ...launchCells,
  ...sendCells,
}

/** App Servers that record a steered message only when the running model call ends. */
const steersLate = (version: string): boolean => /^0\.15[34]\./.test(version)

/** The cell that holds for one App Server. */
export const cellFor = (name: StepName, fault: Fault, version: string): Cell => {
  const expected = matrix[name][fault]
  if (!('later' in expected)) return expected
  return steersLate(version) ? expected.upTo154 : expected.later
}
