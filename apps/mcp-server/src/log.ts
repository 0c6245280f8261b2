import type { Log, LogLevel } from '@codex-thread-bridge/core/contract'

const severity: Readonly<Record<LogLevel, number>> = { error: 0, warn: 1, info: 2, debug: 3 }

const toStderr = (line: string): void => void process.stderr.write(line)

/** JSON lines {time, level, event, …fields} on stderr, down to a level. Whoever logs keeps prompt text and tokens out. */
export const jsonLog =
  (least: LogLevel, write: (line: string) => void = toStderr): Log =>
  (level, event, fields = {}) => {
    if (severity[level] > severity[least]) return
    write(`${JSON.stringify({ time: new Date().toISOString(), level, event, ...fields })}\n`)
  }
