import type { Answer } from './bridges.ts'

/** What matters of an answer, for the trace of a failed schedule. */
export const shown = (answer: Answer): string => {
  if (answer.kind !== 'receipt') return JSON.stringify(answer)
  const { status, next, steps, threadId, turnId, delivery, error, reconciliation, replayed, execution } =
    answer.receipt
  return JSON.stringify({
    status,
    next,
    replayed,
    execution,
    threadId,
    turnId,
    delivery,
    error: error?.code,
    verdict: reconciliation?.verdict,
    looked: reconciliation?.looked,
    steps: steps.map(({ name, state }) => `${name} ${state}`).join(', '),
  })
}
