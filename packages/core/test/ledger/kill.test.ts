import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import Database from 'better-sqlite3'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { expect, test } from 'vitest'
import { checkIntegrity, ledgerPlace, openLedger, otherLedgerPaths } from '../../src/ledger/index.ts'
import { directory, firstLine, receipt, startChild } from './support.ts'

const Line = Type.Tuple([Type.String(), Type.Integer()])
const SEED = 20_261_130

/** Whole numbers below a bound, the same in every run (mulberry32). */
const seeded = (seed: number) => {
  let state = seed
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }
}

/** Kills a writer a little after it has told of so many commits; resolves to all that it told of. */
const killAfter = async (
  child: ChildProcess,
  commits: number,
  turns: number,
): Promise<Map<string, number>> => {
  if (child.stdout === null) throw new Error('the child has no stdout')
  const told = new Map<string, number>()
  const exit = once(child, 'exit')
  let left = commits
  const kill = (after: number): void => {
    if (after === 0) child.kill('SIGKILL')
    else setImmediate(() => kill(after - 1))
  }
  for await (const line of createInterface({ input: child.stdout })) {
    const [requestId, saves] = Value.Parse(Line, JSON.parse(line))
    told.set(requestId, saves)
    if (--left === 0) kill(turns)
  }
  await exit
  expect(child.signalCode).toBe('SIGKILL')
  return told
}

const savesOf = (members: { readonly [own: string]: unknown } | undefined): number => Number(members?.saves)

test('after kill -9 at any instant the ledger opens, is whole and has every commit that returned', async () => {
  const place = { stateDir: directory(), socketPath: '/run/app-server.sock' }
  const random = seeded(SEED)
  const told = new Map<string, number>()
  for (let round = 0; round < 5; round++) {
    const writers = [0, 1, 2, 3].map((number) =>
      startChild('write.ts', [place.stateDir, place.socketPath, `${round}-${number}`]),
    )
    const kills = writers.map((writer) => killAfter(writer, 1 + random(300), random(40)))
    for (const lines of await Promise.all(kills)) for (const [id, saves] of lines) told.set(id, saves)

    const ledger = await openLedger(place)
    expect(await checkIntegrity(ledger.path)).toEqual([])
    const lost = [...told].filter(([id, saves]) => !(savesOf(ledger.get(id)?.receipt) >= saves))
    expect(lost).toEqual([])
    expect(ledger.counts().operations).toBe([...ledger.all()].length)
    ledger.close()
  }
  expect(told.size).toBeGreaterThan(20)
}, 240_000)

/** A ledger of an older bridge with so many receipts of 2 kB. */
const fill = (path: string, count: number): void => {
  writeFileSync(path, '', { mode: 0o600 })
  const db = new Database(path)
  db.exec(
    'CREATE TABLE operations (request_id TEXT PRIMARY KEY, fingerprint TEXT NOT NULL, receipt TEXT NOT NULL)',
  )
  const insert = db.prepare("INSERT INTO operations VALUES (?, 'f', ?)")
  db.transaction(() => {
    for (let i = 0; i < count; i++)
      insert.run(`r ${i}`, JSON.stringify(receipt(`r ${i}`, { padding: 'x'.repeat(2_000) })))
  })()
  db.close()
}

/** Resolves when a file has grown to so many bytes, or the child has ended. */
const grown = (path: string, bytes: number, child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (size >= bytes || child.exitCode !== null) resolve()
      else setImmediate(look)
    }
    look()
  })

test('an import that is killed is there as a whole or not at all, and comes with the next opening', async () => {
  const random = seeded(SEED)
  const count = 2_000
  for (let round = 0; round < 4; round++) {
    const stateDir = directory()
    const socketPath = join(stateDir, 'control.sock')
    symlinkSync(join(stateDir, 'codex-daemon-1000', 'a1b2'), socketPath)
    const place = { stateDir, socketPath }
    const [other = ''] = otherLedgerPaths(place)
    fill(other, count)
    const child = startChild('import.ts', [stateDir, socketPath])
    await firstLine(child)
    child.stdin?.end('go')
    await grown(`${ledgerPlace(place).path}-wal`, random(5_000_000), child)
    const exit = once(child, 'close')
    child.kill('SIGKILL')
    await exit

    const asItIs = await openLedger({ ...place, importOthers: false })
    expect(await checkIntegrity(asItIs.path)).toEqual([])
    expect([0, count]).toContain(asItIs.counts().operations)
    asItIs.close()
    const whole = await openLedger(place)
    expect(whole.counts().operations).toBe(count)
    whole.close()
  }
}, 240_000)
