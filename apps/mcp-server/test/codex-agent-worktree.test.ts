import { join } from 'node:path'
import { createRepository, startWorld, testedVersions } from '@codex-thread-bridge/test-fixtures'
import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { latestAnswer, runAgent, toolCall } from './codex-agent.ts'

const TASK = 'Have another agent read the file in a worktree, then ask it once more.'
const PROMPT = 'What does the file say?'
const AGAIN = 'And how long is it?'

const Receipt = Type.Object({ status: Type.String(), threadId: Type.String(), turnId: Type.String() })
type ReceiptOf = Static<typeof Receipt>

describe.each(testedVersions)('a real Codex agent %s with the bridge among its MCP servers', (version) => {
  it('launches a worktree thread, waits for it, reads it and messages it', async () => {
    const world = await startWorld({ version })
    const repository = await createRepository()
    const destination = join(repository.directory, 'worktree')
    const receipts: ReceiptOf[] = []
    const answers: unknown[] = []
    const receiptOf = (request: Parameters<typeof latestAnswer>[0]): ReceiptOf => {
      const receipt = Value.Parse(Receipt, latestAnswer(request))
      receipts.push(receipt)
      return receipt
    }
    const waitFor = ({ threadId, turnId }: ReceiptOf) =>
      toolCall('wait_thread', { thread_id: threadId, turn_id: turnId, timeout_seconds: 20 })
    try {
      world.model.when(
        PROMPT,
        { toolCall: { name: 'exec_command', arguments: { cmd: `cat 'read me.txt'; pwd` } } },
        { text: 'It says hello.' },
      )
      world.model.when(AGAIN, { text: 'It has six bytes.' })
      world.model.when(
        TASK,
        toolCall('create_worktree_thread', {
          request_id: 'read-1',
          source_repository: repository.root,
          starting_revision: repository.head,
          destination,
          worktree_mode: 'bridge-managed-retained',
          sandbox: 'read-only',
          expected_sandbox_policy: { type: 'readOnly', networkAccess: false },
          prompt: PROMPT,
          title: 'Reading',
        }),
        (request) => waitFor(receiptOf(request)),
        (request) => {
          answers.push(latestAnswer(request))
          return toolCall('read_thread', { thread_id: receipts[0]?.threadId ?? '' })
        },
        (request) => {
          answers.push(latestAnswer(request))
          return toolCall('send_message_to_thread', {
            request_id: 'read-2',
            thread_id: receipts[0]?.threadId ?? '',
            message: AGAIN,
          })
        },
        (request) => waitFor(receiptOf(request)),
        (request) => {
          answers.push(latestAnswer(request))
          return { text: 'The other agent has read it.' }
        },
      )
      expect(await runAgent({ world, task: TASK })).toContain('The other agent has read it.')
      const [first, read, second] = answers
      expect(receipts.map(({ status }) => status)).toEqual(['accepted', 'accepted'])
      expect(first).toMatchObject({ timedOut: false, turn: { status: 'completed' } })
      expect(JSON.stringify(read)).toContain(`hello\\n${destination}`)
      expect(JSON.stringify(second)).toContain('It has six bytes.')
      expect(await repository.git(['worktree', 'list', '--porcelain'])).toContain(
        `worktree ${destination}\nHEAD ${repository.head}\ndetached\nlocked codex-thread-bridge read-1`,
      )
      expect(world.proxy.sent('thread/start')).toHaveLength(1)
      expect(world.proxy.sent('turn/start')).toHaveLength(2)
    } finally {
      await world.close()
      await repository.remove()
    }
  })
})
