import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { at } from '../json.ts'

const folder = fileURLToPath(new URL('../../samples/cli', import.meta.url))

/** What a real CLI printed once, and how it ended. */
export interface CliSample {
  readonly name: string
  readonly stdout: string
  readonly stdoutPath: string
  readonly stderr: string
  /** As a shell counts it: 128 + n for a signal. */
  readonly status: number
}

/** Every recorded run of a CLI, by name. */
export function cliSamples(agent: 'codex' | 'claude' | 'opencode'): readonly CliSample[] {
  return readdirSync(`${folder}/${agent}`)
    .filter((file) => file.endsWith('.stdout'))
    .map((file) => sampleOf(`${folder}/${agent}/${file.slice(0, -'.stdout'.length)}`))
}

function sampleOf(base: string): CliSample {
  return {
    name: base.slice(base.lastIndexOf('/') + 1),
    stdout: readFileSync(`${base}.stdout`, 'utf8'),
    stdoutPath: `${base}.stdout`,
    stderr: readFileSync(`${base}.stderr`, 'utf8'),
    status: statusOf(base),
  }
}

/** `rc=N` of runs to the end; the `returncode` of signalled ones, negative for a signal. */
function statusOf(base: string): number {
  if (existsSync(`${base}.rc`)) return Number(/rc=(\d+)/.exec(readFileSync(`${base}.rc`, 'utf8'))?.[1])
  const code = Number(at(JSON.parse(readFileSync(`${base}.json`, 'utf8')), 'returncode'))
  return code < 0 ? 128 - code : code
}
