import { readFileSync } from 'node:fs'
import type { Host } from '@codex-thread-bridge/core/host'
import { createHost } from '@codex-thread-bridge/core/host'
import { cannedAppServer, memoryLedger, testPlugin } from '@codex-thread-bridge/core/testing'
import { createOperationsPlugin } from '@codex-thread-bridge/operations'
import { expect, it } from 'vitest'
import { receipt } from './receipts.ts'

const about = { version: '1.2.3', testedVersions: ['0.171.0'] }
const plugin = (host: Host) => createOperationsPlugin(host.operations, about)

testPlugin(plugin, it, { receipts: [receipt({ requestId: 'review-parser-1' })] })

it('carries the version of its package', () => {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const host = createHost({ appServer: cannedAppServer({}), ledger: memoryLedger() })
  expect(manifest).toMatchObject({ version: plugin(host).version })
})
