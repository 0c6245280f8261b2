/** Migration n takes jobs.sqlite3 from user_version n - 1 to n. */
export const jobMigrations: readonly string[] = [
  `
  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id TEXT NOT NULL UNIQUE,
    request_id TEXT,
    agent TEXT NOT NULL,
    name TEXT,
    model TEXT,
    asked_model TEXT,
    effort TEXT,
    access TEXT,
    work_folder TEXT NOT NULL,
    prompt TEXT NOT NULL,
    session_asked TEXT,
    created_at REAL NOT NULL,
    timeout_ms INTEGER,
    pid INTEGER,
    start_time TEXT,
    boot_id TEXT,
    starter TEXT,
    status TEXT NOT NULL,
    outcome TEXT,
    exit_code INTEGER,
    signal TEXT,
    ended_at REAL,
    stop_reason TEXT,
    stop_at REAL,
    reason TEXT,
    foreign_stdout TEXT,
    foreign_stderr TEXT
  );
  CREATE INDEX jobs_by_time ON jobs (created_at, seq);
  CREATE INDEX jobs_by_status ON jobs (status, created_at, seq);
  CREATE INDEX jobs_by_pid ON jobs (pid, seq);
  CREATE INDEX jobs_by_request ON jobs (request_id);

  -- What was read of a job's output: apart from the job, since it may be large and changes while the job runs.
  CREATE TABLE readings (job_id TEXT PRIMARY KEY, at INTEGER NOT NULL, reading TEXT NOT NULL);

  CREATE TABLE imports (path TEXT PRIMARY KEY, at REAL NOT NULL, jobs INTEGER NOT NULL);
  `,
]
