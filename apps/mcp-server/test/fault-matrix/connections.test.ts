import { describeColumns } from './column.ts'

describeColumns(['answerLost', 'timeout', 'reconnect', 'unreachable', 'cutUnread', 'cutActed', 'serverError'])
