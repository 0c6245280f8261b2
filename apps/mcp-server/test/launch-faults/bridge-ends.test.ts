import { describeColumns } from './column.ts'

describeColumns([
  'cancelled',
  'bridgeKilledBefore',
  'bridgeKilledDuring',
  'bridgeKilledAfter',
  'bothKilled',
  'diskFullBefore',
  'diskFullAfter',
])
