import { definePlugin, packageVersion } from '@codex-thread-bridge/core/contract'
import type { OperationsPort } from '@codex-thread-bridge/core/host'
import { getCapabilities, type About } from './get-capabilities.ts'
import { getOperation } from './get-operation.ts'
import { listOperations } from './list-operations.ts'

export { type About } from './get-capabilities.ts'

/** get_operation, list_operations and get_capabilities, over a host's own port: `createOperationsPlugin(host.operations, …)`. */
export const createOperationsPlugin = (operations: OperationsPort, about: About) =>
  definePlugin({
    name: 'operations',
    family: 'bridge',
    version: packageVersion(import.meta.url),
    tools: [getOperation(operations), listOperations(operations), getCapabilities(operations, about)],
  })
