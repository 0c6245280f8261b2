import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A `git` that passes on to the real one and does something else at one command, once. */
export interface StandIn {
  /** A PATH with nothing but the stand-in. */
  readonly path: string
  readonly file: string
  /** The processes that were started so as not to end. */
  stuck(): readonly number[]
}

/** In the stand-in's shell: `"$git" "$@"` is the real command, `$pids` takes the ids of what hangs. */
export type Shell = string

const hang: Shell = `trap '' TERM; sleep 600 & echo $! $$ >> "$pids"; wait; exit 1`

export const shells = {
  fails: `echo 'fatal: no' >&2; exit 128`,
  failsActed: `"$git" "$@"; echo 'fatal: no' >&2; exit 1`,
  hangs: hang,
  hangsActed: `"$git" "$@" >/dev/null; ${hang}`,
  noSpace: `trap '' XFSZ; ulimit -f 0; exec "$git" "$@"`,
  gitTooOld: `echo 'git version 2.20.1'; exit 0`,
  killsBridge: `kill -9 $PPID; "$git" "$@"; touch "$pids.ended"; exit 0`,
} as const satisfies Record<string, Shell>

const realGit = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()

export const standInGit = (
  directory: string,
  at: { readonly command: string; readonly nth: number } | undefined,
  shell: Shell | undefined,
): StandIn => {
  mkdirSync(directory)
  const file = join(directory, 'git')
  const pids = join(directory, 'pids')
  writeFileSync(pids, '')
  const acting =
    at === undefined || shell === undefined
      ? ''
      : `case " $* " in *' ${at.command} '*)
  echo >> "$pids.seen"
  if [ $(wc -l < "$pids.seen") -eq ${String(at.nth)} ]; then ${shell}; fi;;
esac`
  const lines = [
    '#!/bin/sh',
    `export PATH='${process.env.PATH ?? ''}'`,
    `git='${realGit}' pids='${pids}'`,
    acting,
    'exec "$git" "$@"',
  ]
  writeFileSync(file, lines.join('\n'))
  chmodSync(file, 0o755)
  return {
    path: directory,
    file,
    stuck: () => readFileSync(pids, 'utf8').split(/\s+/).filter(Boolean).map(Number),
  }
}
