import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished } from 'vitest'
import { BridgeError } from '../../src/contract/index.ts'
import { openLedger, type Owner, type Receipt, type SqliteLedger } from '../../src/ledger/index.ts'

export const endpoint = '/run/app-server.sock'

/** A private directory of this test. */
export const directory = (): string => {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'ledger-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** A ledger of this test, closed at its end. */
export const openHere = async (path: string, busyTimeoutMs = 10_000): Promise<SqliteLedger> => {
  const ledger = await openLedger({ path, endpoint, busyTimeoutMs })
  onTestFinished(() => ledger.close())
  return ledger
}

/** Like a receipt that a host claims with. */
export const receipt = (requestId: string, members: Partial<Receipt> = {}): Receipt => ({
  requestId,
  operation: 'send_message_to_thread',
  family: 'bridge',
  status: 'accepted',
  startedAt: 1_790_000_000.25,
  updatedAt: 1_790_000_000.25,
  retrySafe: false,
  next: 'none',
  fingerprintVersion: 3,
  steps: [],
  ...members,
})

export const row = (requestId: string, members: Partial<Receipt> = {}) => ({
  fingerprint: `fingerprint of ${requestId}`,
  receipt: receipt(requestId, members),
})

export const open = (owner: Owner, steps: Receipt['steps'] = []): Partial<Receipt> => ({
  status: 'in_progress_or_unknown',
  next: 'reconcile',
  owner,
  steps,
})

export const owners = {
  living: { pid: 101, startTime: '1', bootId: 'this boot' },
  other: { pid: 102, startTime: '2', bootId: 'this boot' },
  dead: { pid: 103, startTime: '3', bootId: 'an earlier boot' },
} as const satisfies Record<string, Owner>

export const livesInTest = (owner: Owner): boolean => owner.bootId === 'this boot'

/** The code of the BridgeError that `act` ends with. */
export const codeOf = async (act: () => unknown): Promise<string> => {
  try {
    await act()
  } catch (error) {
    expect(error).toBeInstanceOf(BridgeError)
    return error instanceof BridgeError ? error.code : ''
  }
  return 'no error'
}

/** Starts one of the scripts in children/ as a process of its own, ended with the test. */
export const startChild = (
  script: string,
  args: readonly string[],
  options: SpawnOptions & { readonly within?: readonly string[] } = {},
): ChildProcess => {
  const path = fileURLToPath(new URL(`children/${script}`, import.meta.url))
  const { within = [], ...spawnOptions } = options
  const [command = process.execPath, ...rest] = [...within, process.execPath, '--import', tsx, path, ...args]
  const child = spawn(command, rest, { stdio: ['pipe', 'pipe', 'inherit'], ...spawnOptions })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

const tsx = import.meta.resolve('tsx')

/** What a child prints until it ends, parsed as JSON. */
export const resultOf = async (child: ChildProcess): Promise<unknown> => {
  if (child.stdout === null) throw new Error('the child has no stdout')
  const ended = once(child, 'exit')
  const printed = await text(child.stdout)
  await ended
  return JSON.parse(printed)
}

/** Resolves with the first thing a child prints. */
export const firstLine = async (child: ChildProcess): Promise<string> => {
  if (child.stdout === null) throw new Error('the child has no stdout')
  const chunks: unknown[] = await once(child.stdout, 'data')
  return String(chunks[0]).trim()
}
