#!/usr/bin/env node
import { BridgeError } from '@codex-thread-bridge/core/contract'
import { runCli } from './cli.ts'
import { jsonLog } from './log.ts'

const log = jsonLog('error')

/** The stack without its message, which may quote an argument. */
const framesOf = (error: Error): readonly string[] =>
  (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))

const crash = (error: unknown): never => {
  if (BridgeError.is(error))
    log('error', 'failed', { code: error.code, message: error.message, hint: error.hint })
  else if (error instanceof Error) log('error', 'crashed', { error: error.name, frames: framesOf(error) })
  else log('error', 'crashed')
  process.exit(1)
}

// A reader that has closed its end is no reason to lose a running mutation; the server notices for itself.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
process.on('uncaughtException', crash)

runCli(process.argv.slice(2)).then((code) => {
  process.exitCode = code
  // Nothing should be open any more; if something is, it must not keep a client waiting.
  setTimeout(() => {
    log('error', 'left_open', { resources: process.getActiveResourcesInfo() })
    process.exit()
  }, 2_000).unref()
}, crash)
