import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  asLedgerErrors,
  fileSystemKind,
  isPrivateDirectory,
  ledgerError,
  openDatabase,
} from '@codex-thread-bridge/core/ledger'
import type { Database } from 'better-sqlite3'
import { Compile } from 'typebox/compile'
import { Type } from 'typebox'
import { Job, type Ending, type JobRow, type JobStatus, type StopReason } from './job.ts'
import { jobMigrations } from './migrations.ts'
import { prepareStatements } from './statements.ts'
import { lazily } from '../lazily.ts'

const BUSY_TIMEOUT_MS = 10_000

const job = lazily(() => Compile(Job))
const row = lazily(() =>
  Compile(
    Type.Pick(Job, [
      'seq',
      'jobId',
      'agent',
      'status',
      'outcome',
      'name',
      'pid',
      'workFolder',
      'createdAt',
      'endedAt',
    ]),
  ),
)

export type NewJob = Omit<Job, 'seq'>

export interface JobQuery {
  readonly status?: JobStatus
  readonly limit: number
  /** Only jobs that come after this one, newest first. */
  readonly after?: { readonly createdAt: number; readonly seq: number }
}

/** Who a process is: a pid alone may be another's by now. */
export interface ProcessIdentity {
  readonly pid: number
  readonly startTime: string
  readonly bootId: string
}

/**
 * The jobs of a state directory, shared by all bridge processes on it. Every write is one durable commit.
 * @throws BridgeError with a ledger_* code
 */
export interface JobStore {
  readonly path: string
  get(jobId: string): Job | undefined
  newestWithPid(pid: number): Job | undefined
  ofRequest(requestId: string): Job | undefined
  running(): readonly Job[]
  /** Newest first; costs what the page costs, however many jobs have ended. */
  list(query: JobQuery): { readonly rows: readonly JobRow[]; readonly more: boolean }
  /** Jobs of a status that ended up to then, oldest first, after a seq. */
  endedBefore(status: JobStatus, endedBefore: number, after: number, limit: number): readonly Job[]
  /** False, and nothing is kept, when as many run already. */
  insert(job: NewJob, maxRunning: number): boolean
  started(jobId: string, process: ProcessIdentity): void
  /** True for the one who asked first; reason, time and words stay. */
  requestStop(jobId: string, stopReason: StopReason, at: number, words?: string): boolean
  /** True when this ended it; the first ending stays. */
  finish(jobId: string, ending: Ending): boolean
  remove(jobId: string): boolean
  reading(jobId: string): string | undefined
  /** `at` tells how far the reading is; one that is less far than the kept one is dropped. */
  saveReading(jobId: string, at: number, reading: string): void
  /** Keeps all or nothing, once for each path. */
  importOnce(path: string, at: number, read: () => readonly NewJob[]): void
  close(): void
}

const storePath = (stateDir: string): string => join(stateDir, 'jobs.sqlite3')

/**
 * Whether a state directory has jobs to be looked at; makes nothing.
 * @throws BridgeError ledger_not_private, ledger_unavailable
 */
export const hasJobStore = (stateDir: string): boolean =>
  isPrivateDirectory(stateDir) && existsSync(storePath(stateDir))

/**
 * Opens jobs.sqlite3 in a state directory, making it private where it is missing. Needs the optional package
 * better-sqlite3, loaded here and not before.
 * @throws BridgeError ledger_driver_missing, ledger_not_private, ledger_newer, ledger_corrupt, ledger_read_only, …
 */
export const openJobStore = async (stateDir: string): Promise<JobStore> => {
  const path = storePath(stateDir)
  try {
    const db = await openDatabase({
      path,
      busyTimeoutMs: BUSY_TIMEOUT_MS,
      fileSystem: fileSystemKind,
      migrations: jobMigrations,
    })
    return storeOver(db, path)
  } catch (error) {
    throw ledgerError(path, error)
  }
}

const storeOver = (db: Database, path: string): JobStore => {
  const safely = <T>(act: () => T): T => asLedgerErrors(path, act)
  const sql = safely(() => prepareStatements(db))
  const one = (found: unknown): Job | undefined => (found === undefined ? undefined : job().Parse(found))
  const insert = db.transaction((fresh: NewJob, maxRunning: number): boolean => {
    if ((sql.countRunning.get() ?? 0) >= maxRunning) return false
    sql.insert.run(fresh)
    return true
  })
  const remove = db.transaction((jobId: string): boolean => {
    const gone = sql.remove.run(jobId).changes === 1
    if (gone) sql.removeReading.run(jobId)
    return gone
  })
  const importOnce = db.transaction((from: string, at: number, read: () => readonly NewJob[]): void => {
    if (sql.imported.get(from) !== undefined) return
    const jobs = read()
    for (const fresh of jobs) sql.insert.run(fresh)
    sql.addImport.run(from, at, jobs.length)
  })

  return {
    path,
    get: (jobId) => safely(() => one(sql.byId.get(jobId))),
    newestWithPid: (pid) => safely(() => one(sql.byPid.get(pid))),
    ofRequest: (requestId) => safely(() => one(sql.byRequest.get(requestId))),
    running: () => safely(() => sql.running.all().map((found) => job().Parse(found))),
    list: ({ status, limit, after }) =>
      safely(() => {
        const place = {
          createdAt: after?.createdAt ?? Number.MAX_VALUE,
          seq: after?.seq ?? Number.MAX_SAFE_INTEGER,
          limit: limit + 1,
        }
        const found = status === undefined ? sql.list.all(place) : sql.listByStatus.all({ ...place, status })
        const rows = found.map((line) => row().Parse(line))
        return { rows: rows.slice(0, limit), more: rows.length > limit }
      }),
    endedBefore: (status, endedBefore, after, limit) =>
      safely(() =>
        sql.endedBefore.all({ status, endedBefore, after, limit }).map((found) => job().Parse(found)),
      ),
    insert: (fresh, maxRunning) => safely(() => insert.immediate(fresh, maxRunning)),
    started: (jobId, process) => safely(() => void sql.started.run({ jobId, ...process })),
    requestStop: (jobId, stopReason, at, words) =>
      safely(() => sql.requestStop.run({ jobId, stopReason, at, words: words ?? null }).changes === 1),
    finish: (jobId, ending) => safely(() => sql.finish.run({ jobId, ...ending }).changes === 1),
    remove: (jobId) => safely(() => remove.immediate(jobId)),
    reading: (jobId) => safely(() => sql.reading.get(jobId)),
    saveReading: (jobId, at, reading) => safely(() => void sql.saveReading.run({ jobId, at, reading })),
    importOnce: (from, at, read) => safely(() => importOnce.immediate(from, at, read)),
    close: () => safely(() => void db.close()),
  }
}
