import { startWorld, testedVersions } from '@codex-thread-bridge/test-fixtures'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { latestAnswer, runAgent, toolCall } from './codex-agent.ts'

const TASK = 'Have another agent count the files.'
const PROMPT = 'Count the files.'

const Receipt = Type.Object({ threadId: Type.String(), turnId: Type.String(), status: Type.String() })

describe.each(testedVersions)('a real Codex agent %s with the bridge among its MCP servers', (version) => {
  it('creates a thread, waits for it and reads what it answered', async () => {
    const world = await startWorld({ version })
    try {
      let created: { threadId: string; turnId: string; status: string } | undefined
      const answers: unknown[] = []
      world.model.when(PROMPT, { text: 'There are 7 files.' })
      world.model.when(
        TASK,
        toolCall('create_thread', {
          request_id: 'count-1',
          cwd: world.cwd,
          prompt: PROMPT,
          title: 'Counting',
        }),
        (request) => {
          created = Value.Parse(Receipt, latestAnswer(request))
          return toolCall('wait_thread', {
            thread_id: created.threadId,
            turn_id: created.turnId,
            timeout_seconds: 20,
          })
        },
        (request) => {
          answers.push(latestAnswer(request))
          return toolCall('read_thread', { thread_id: created?.threadId ?? '' })
        },
        (request) => {
          answers.push(latestAnswer(request))
          return { text: 'The other agent says: 7 files.' }
        },
      )
      expect(await runAgent({ world, task: TASK })).toContain('The other agent says: 7 files.')
      expect(created?.status).toBe('accepted')
      const [waited, read] = answers
      expect(waited).toMatchObject({ timedOut: false, turn: { status: 'completed' } })
      expect(JSON.stringify(read)).toContain('There are 7 files.')
      expect(world.proxy.sent('thread/start')).toHaveLength(1)
    } finally {
      await world.close()
    }
  })
})
