import type { Database, Statement } from 'better-sqlite3'

const JOB = `SELECT seq, job_id AS jobId, request_id AS requestId, agent, name, model, asked_model AS askedModel, effort,
  access, work_folder AS workFolder, prompt, session_asked AS sessionAsked, created_at AS createdAt,
  timeout_ms AS timeoutMs, pid, start_time AS startTime, boot_id AS bootId, starter, status, outcome,
  exit_code AS exitCode, signal, ended_at AS endedAt, stop_reason AS stopReason, stop_at AS stopAt, reason,
  foreign_stdout AS foreignStdout, foreign_stderr AS foreignStderr FROM jobs`
const ROW = `SELECT seq, job_id AS jobId, agent, status, outcome, name, pid, work_folder AS workFolder,
  created_at AS createdAt, ended_at AS endedAt FROM jobs`

export const BY_ID = `${JOB} WHERE job_id = ?`
/** A pid may have been used again: its newest job is meant. */
export const BY_PID = `${JOB} WHERE pid = ? ORDER BY seq DESC LIMIT 1`
export const BY_REQUEST = `${JOB} WHERE request_id = ? ORDER BY seq DESC LIMIT 1`
export const RUNNING = `${JOB} WHERE status = 'running' ORDER BY seq`
export const COUNT_RUNNING = `SELECT count(*) FROM jobs WHERE status = 'running'`

const NEWEST_FIRST = `created_at <= @createdAt AND (created_at, seq) < (@createdAt, @seq)
  ORDER BY created_at DESC, seq DESC LIMIT @limit`
export const LIST = `${ROW} WHERE ${NEWEST_FIRST}`
export const LIST_BY_STATUS = `${ROW} WHERE status = @status AND ${NEWEST_FIRST}`
export const ENDED_BEFORE = `${JOB} WHERE status = @status AND seq > @after AND ended_at <= @endedBefore
  ORDER BY seq LIMIT @limit`

export const INSERT = `INSERT INTO jobs (job_id, request_id, agent, name, model, asked_model, effort, access, work_folder,
  prompt, session_asked, created_at, timeout_ms, pid, start_time, boot_id, starter, status, outcome, exit_code, signal,
  ended_at, stop_reason, stop_at, reason, foreign_stdout, foreign_stderr)
  VALUES (@jobId, @requestId, @agent, @name, @model, @askedModel, @effort, @access, @workFolder, @prompt,
  @sessionAsked, @createdAt, @timeoutMs, @pid, @startTime, @bootId, @starter, @status, @outcome, @exitCode, @signal,
  @endedAt, @stopReason, @stopAt, @reason, @foreignStdout, @foreignStderr)`
export const STARTED = `UPDATE jobs SET pid = @pid, start_time = @startTime, boot_id = @bootId, starter = NULL
  WHERE job_id = @jobId`
export const REQUEST_STOP = `UPDATE jobs SET stop_reason = @stopReason, stop_at = @at, reason = @words
  WHERE job_id = @jobId AND status = 'running' AND stop_reason IS NULL`
/** The first ending stays: what was killed does not succeed later. */
export const FINISH = `UPDATE jobs SET status = @status, outcome = @outcome, exit_code = @exitCode, signal = @signal,
  ended_at = @endedAt, reason = @reason WHERE job_id = @jobId AND status = 'running'`
export const REMOVE = `DELETE FROM jobs WHERE job_id = ? AND status <> 'running'`

export const READING = 'SELECT reading FROM readings WHERE job_id = ?'
/** Two processes may read the same job: who has read further counts. */
export const SAVE_READING = `INSERT INTO readings (job_id, at, reading) VALUES (@jobId, @at, @reading)
  ON CONFLICT (job_id) DO UPDATE SET at = excluded.at, reading = excluded.reading WHERE excluded.at >= readings.at`
export const REMOVE_READING = 'DELETE FROM readings WHERE job_id = ?'

export const IMPORTED = 'SELECT jobs FROM imports WHERE path = ?'
export const ADD_IMPORT = 'INSERT OR IGNORE INTO imports (path, at, jobs) VALUES (?, ?, ?)'

interface Place {
  readonly createdAt: number
  readonly seq: number
  readonly limit: number
}

/** Every statement, prepared once. */
export interface Statements {
  readonly byId: Statement<[jobId: string]>
  readonly byPid: Statement<[pid: number]>
  readonly byRequest: Statement<[requestId: string]>
  readonly running: Statement<[]>
  readonly countRunning: Statement<[], number>
  readonly list: Statement<[place: Place]>
  readonly listByStatus: Statement<[place: Place & { status: string }]>
  readonly endedBefore: Statement<[{ status: string; after: number; endedBefore: number; limit: number }]>
  readonly insert: Statement<[object]>
  readonly started: Statement<[object]>
  readonly requestStop: Statement<[object]>
  readonly finish: Statement<[object]>
  readonly remove: Statement<[jobId: string]>
  readonly reading: Statement<[jobId: string], string>
  readonly saveReading: Statement<[object]>
  readonly removeReading: Statement<[jobId: string]>
  readonly imported: Statement<[path: string], number>
  readonly addImport: Statement<[path: string, at: number, jobs: number]>
}

export const prepareStatements = (db: Database): Statements => ({
  byId: db.prepare(BY_ID),
  byPid: db.prepare(BY_PID),
  byRequest: db.prepare(BY_REQUEST),
  running: db.prepare(RUNNING),
  countRunning: db.prepare<[], number>(COUNT_RUNNING).pluck(),
  list: db.prepare(LIST),
  listByStatus: db.prepare(LIST_BY_STATUS),
  endedBefore: db.prepare(ENDED_BEFORE),
  insert: db.prepare(INSERT),
  started: db.prepare(STARTED),
  requestStop: db.prepare(REQUEST_STOP),
  finish: db.prepare(FINISH),
  remove: db.prepare(REMOVE),
  reading: db.prepare<[string], string>(READING).pluck(),
  saveReading: db.prepare(SAVE_READING),
  removeReading: db.prepare(REMOVE_READING),
  imported: db.prepare<[string], number>(IMPORTED).pluck(),
  addImport: db.prepare(ADD_IMPORT),
})
