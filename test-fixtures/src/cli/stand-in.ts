import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** One thing that a stand-in does; its prompt is the JSON of a list of them. */
export type Step =
  | { readonly print: string }
  | { readonly printError: string }
  /** Bytes that need not be text. */
  | { readonly printBase64: string }
  /** `line` again and again, until so many bytes are out. */
  | { readonly fill: number; readonly line: string }
  /** One line of so many bytes: `before`, then the filling, then `after`. */
  | { readonly longLine: number; readonly before: string; readonly after: string }
  | { readonly sleep: number }
  /** Until the file is there. */
  | { readonly waitFor: string }
  | { readonly touch: string }
  /** What a signal does from now on: nothing, or an end with this code. */
  | { readonly on: NodeJS.Signals; readonly exit: number | null }
  /** A `sleep` that outlives it unless it is ended; `ownSession`: not in its group. Its pid goes to the file. */
  | {
      readonly spawnSleep: number
      readonly ownSession: boolean
      readonly pidFile: string
      readonly env?: object
    }
  /** A command of the shell, waited for. */
  | { readonly shell: string }
  | { readonly closeStdout: true }
  /** The environment and the arguments, as JSON, to the file. */
  | { readonly tellTo: string }
  | { readonly exit: number }

/** What `run` gives a stand-in to do. */
export const standInPrompt = (...steps: readonly Step[]): string => JSON.stringify(steps)

const PROGRAM = `#!${process.execPath}
import { spawn, spawnSync } from 'node:child_process'
import { closeSync, existsSync, readFileSync, writeFileSync, writeSync } from 'node:fs'
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
if (process.argv.includes('--version')) {
  console.log('stand-in 1.0.0')
  process.exit(0)
}
const out = (bytes) => {
  for (let from = 0; from < bytes.length; ) from += writeSync(1, bytes, from)
}
const does = {
  print: ({ print }) => out(Buffer.from(print)),
  printError: ({ printError }) => writeSync(2, printError),
  printBase64: ({ printBase64 }) => out(Buffer.from(printBase64, 'base64')),
  fill: ({ fill, line }) => {
    const block = Buffer.from(line.repeat(Math.max(1, Math.ceil(65536 / line.length))))
    for (let done = 0; done < fill; done += block.length) out(block)
  },
  longLine: ({ longLine, before, after }) => {
    out(Buffer.from(before))
    const block = Buffer.alloc(65536, 'x')
    for (let left = longLine; left > 0; left -= block.length) out(left < block.length ? block.subarray(0, left) : block)
    out(Buffer.from(after))
  },
  sleep: ({ sleep }) => pause(sleep),
  waitFor: async ({ waitFor }) => {
    while (!existsSync(waitFor)) await pause(5)
  },
  touch: ({ touch }) => writeFileSync(touch, ''),
  on: ({ on, exit }) => void process.on(on, () => exit !== null && process.exit(exit)),
  spawnSleep: ({ spawnSleep, ownSession, pidFile, env }) => {
    const child = spawn('sleep', [String(spawnSleep)], { detached: ownSession, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] })
    child.unref()
    writeFileSync(pidFile, String(child.pid))
  },
  shell: ({ shell }) => void spawnSync('/bin/sh', ['-c', shell], { stdio: ['ignore', 'inherit', 'inherit'] }),
  closeStdout: () => closeSync(1),
  tellTo: ({ tellTo }) => writeFileSync(tellTo, JSON.stringify({ env: process.env, args: process.argv.slice(2), cwd: process.cwd() })),
  exit: ({ exit }) => process.exit(exit),
}
for (const step of JSON.parse(readFileSync(0, 'utf8'))) {
  const name = Object.keys(does).find((key) => key in step && !(key === 'exit' && 'on' in step))
  await does[name](step)
}
`

/**
 * Writes a program that stands in for a CLI: it takes its prompt from stdin, as jobs give it, and does what it says there.
 * It has nothing of the real CLI but the place. Returns its path.
 */
export function writeStandIn(directory: string, name: string): string {
  const path = join(directory, `${name}.mjs`)
  writeFileSync(path, PROGRAM)
  chmodSync(path, 0o755)
  return path
}
