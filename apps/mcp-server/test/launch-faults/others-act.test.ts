import { describeColumns } from './column.ts'

describeColumns([
  'readOnlyParent',
  'sourceRemoved',
  'parentSwapped',
  'appears',
  'otherLaunch',
  'dirtied',
  'otherHead',
  'branched',
  'unlocked',
  'removed',
])
