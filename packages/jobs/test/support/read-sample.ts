import type { CliSample } from '@codex-thread-bridge/test-fixtures'
import { clis } from '../../src/clis/index.ts'
import { endingOf } from '../../src/ending.ts'
import { Follower } from '../../src/output/follower.ts'
import { newReading, type Reading } from '../../src/output/reading.ts'
import { exitStatusOf } from '../../src/process/exit-status.ts'
import type { Agent, Ending } from '../../src/store/job.ts'

/** What our reader makes of a file of output, and of the exit status that went with it. */
export const readOutput = async (
  agent: Agent,
  path: string,
  status: number,
): Promise<{ readonly reading: Reading; readonly ending: Ending }> => {
  const follower = new Follower(path, clis[agent], newReading(), () => 0)
  await follower.finish()
  const { reading } = follower
  const evidence = { exit: exitStatusOf(status), rebooted: false, neverStarted: false, endedAt: 0 }
  return { reading, ending: endingOf({ stopReason: null }, clis[agent], reading, evidence) }
}

/** The telling parts of a sample's result, in one line each. */
export const summaryOfSample = async (agent: Agent, { stdoutPath, status }: CliSample) => {
  const { reading, ending } = await readOutput(agent, stdoutPath, status)
  return {
    outcome: ending.outcome,
    signal: ending.signal,
    message: reading.message,
    session: reading.sessionId,
    error: reading.error === null ? null : `${reading.error.kind}: ${reading.error.message}`,
    reason: ending.reason,
    tokens: reading.usage === null ? null : `${reading.usage.inputTokens}+${reading.usage.outputTokens}`,
    cost: reading.costUsd,
    tools: reading.tools.map(
      ({ tool, status: how, exitCode }) => `${tool} ${how}${exitCode === undefined ? '' : ` ${exitCode}`}`,
    ),
    strange: reading.strangeText,
  }
}
