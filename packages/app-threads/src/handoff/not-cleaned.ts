import { asBridgeError } from '@codex-thread-bridge/core/contract'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { CarryPaths } from '../git/carry.ts'

const failedCommand = Compile(
  Type.Object({
    command: Type.Array(Type.String()),
    exitCode: Type.Integer(),
    stderrTail: Type.String(),
  }),
)

/** Why a step failed; a command that said nothing is named itself. */
const reasonOf = (error: unknown): string => {
  const { message, details } = asBridgeError(error)
  if (!failedCommand.Check(details) || details.stderrTail.trim() !== '') return message
  return `${details.command.join(' ')} failed with exit code ${String(details.exitCode)} and gave no reason; a locked index is the usual one.`
}

/** What a person is told when the thread has moved but the source is not clean. */
export const notCleaned = ({ from, to }: CarryPaths, error: unknown): string =>
  `The thread has moved, but not all could be taken out of ${from}: ${reasonOf(error)} See git -C ${from} status and take the changes out there by hand: they are whole in ${to}.`
