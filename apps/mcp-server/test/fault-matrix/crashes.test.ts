import { describeColumns } from './column.ts'

describeColumns(['serverKilledUnread', 'serverKilledActed', 'bothKilledUnread', 'bothKilledActed'])
