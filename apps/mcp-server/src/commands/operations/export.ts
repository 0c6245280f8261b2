import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Entry } from '@codex-thread-bridge/core/ledger'
import type { BridgeOptions } from '../../options.ts'
import type { Output } from './output.ts'
import { redact } from './redact.ts'
import { withLedger } from './with-ledger.ts'

export interface ExportFlags {
  readonly withTexts?: boolean
}

const withoutOwner = ({ requestId, receipt }: Entry): object => {
  if (receipt === undefined) return { requestId, unreadable: true }
  const { owner: _owner, ...answer } = receipt
  return answer
}

const redacted = ({ requestId, receipt }: Entry): object =>
  receipt === undefined ? { requestId, unreadable: true, redacted: true } : redact(receipt)

function* linesOf(entries: Iterable<Entry>, shape: (entry: Entry) => object): Iterable<string> {
  for (const entry of entries) yield `${JSON.stringify(shape(entry))}\n`
}

const hasLeft = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EPIPE'

/** Every receipt as a JSON line on stdout, oldest first, as fast as they are read there. */
export const exportOperations = (
  options: BridgeOptions,
  { withTexts = false }: ExportFlags,
  output: Output,
): Promise<number> =>
  withLedger(options, output, async (ledger) => {
    const lines = Readable.from(linesOf(ledger.all(), withTexts ? withoutOwner : redacted))
    try {
      await pipeline(lines, process.stdout, { end: false })
    } catch (error) {
      // Whoever reads has enough, as head(1) does.
      if (!hasLeft(error)) throw error
    }
  })
