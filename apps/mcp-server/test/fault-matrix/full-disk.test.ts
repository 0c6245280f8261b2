import { describeColumns } from './column.ts'

describeColumns(['diskFullBefore', 'diskFullAfter'])
