import { describeColumns } from './column.ts'

describeColumns(['cancelled', 'bridgeKilledUnread', 'bridgeKilledActed'])
