import { at } from '@codex-thread-bridge/test-fixtures'
import type { Receipt } from '@codex-thread-bridge/core/ledger'
import { destinations, type Destination } from './destination.ts'

/** What the receipt may say of a prompt, by what became of the launch. */
const promptStates = (receipt: Receipt): readonly string[] => {
  if (receipt.status === 'accepted') return ['accepted', 'recorded']
  const mayBeThere =
    receipt.status === 'outcome_unknown' && receipt.steps.some(({ name }) => name === 'turn/start')
  return mayBeThere ? ['outcome_unknown'] : ['not_sent']
}

/** What must hold of every receipt of a launch that is looked up in the end, beside what Git says stands there. */
export const launchPromises = (receipt: Receipt, destination: Destination): [boolean, string][] => {
  const [words, ...states] = destinations[destination]
  const state = String(at(receipt, 'worktree.state'))
  const prompt = String(at(receipt, 'initialPrompt.state'))
  const { status, recoveryRequired, recovery, threadId } = receipt
  const elsewhere = receipt.error?.code === 'destination_changed'
  const left = threadId !== undefined || state !== 'planned'
  return [
    // Nobody looks at what stands where the path leads elsewhere.
    [
      elsewhere || states.some((known) => known === state),
      `${words} stands there, and the receipt says ${state}`,
    ],
    [recoveryRequired === (status !== 'accepted' && left), `recoveryRequired is ${String(recoveryRequired)}`],
    [(recovery !== undefined) === recoveryRequired, `recovery is ${String(recovery)}`],
    [promptStates(receipt).includes(prompt), `the prompt is told as ${prompt}`],
  ]
}
