import { describeColumns } from './column.ts'

describeColumns([
  'fails',
  'failsActed',
  'hangs',
  'hangsActed',
  'gitMissing',
  'gitTooOld',
  'indexLocked',
  'noSpace',
])
