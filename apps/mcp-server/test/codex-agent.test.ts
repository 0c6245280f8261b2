import { fileURLToPath } from 'node:url'
import {
  codexBinary,
  createCodexHome,
  startWorld,
  tempDir,
  testedVersions,
  type ModelRequest,
} from '@codex-thread-bridge/test-fixtures'
import { execa } from 'execa'
import { Type } from 'typebox'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'

const SERVER = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const TASK = 'Have another agent count the files.'
const PROMPT = 'Count the files.'

const call = (name: string, args: object) => ({
  toolCall: { name, namespace: 'mcp__bridge', arguments: args },
})

/** The JSON that the tool's latest answer carries, whatever the agent puts around it. */
const latestAnswer = (request: ModelRequest): unknown => {
  const output = request.toolOutputs.at(-1)?.output
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  const found = /\{.*\}/s.exec(text)
  return found === null ? {} : JSON.parse(found[0])
}

const Receipt = Type.Object({ threadId: Type.String(), turnId: Type.String(), status: Type.String() })

describe.each(testedVersions)('a real Codex agent %s with the bridge among its MCP servers', (version) => {
  it('creates a thread, waits for it and reads what it answered', async () => {
    const world = await startWorld({ version })
    const state = tempDir('state')
    const agentHome = createCodexHome({
      modelUrl: world.model.url,
      config: `
[mcp_servers.bridge]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([SERVER, '--socket', world.socketPath, '--state-dir', state.path])}
default_tools_approval_mode = "approve"
required = true
`,
    })
    try {
      let created: { threadId: string; turnId: string; status: string } | undefined
      const answers: unknown[] = []
      world.model.when(PROMPT, { text: 'There are 7 files.' })
      world.model.when(
        TASK,
        call('create_thread', { request_id: 'count-1', cwd: world.cwd, prompt: PROMPT, title: 'Counting' }),
        (request) => {
          created = Value.Parse(Receipt, latestAnswer(request))
          return call('wait_thread', {
            thread_id: created.threadId,
            turn_id: created.turnId,
            timeout_seconds: 20,
          })
        },
        (request) => {
          answers.push(latestAnswer(request))
          return call('read_thread', { thread_id: created?.threadId ?? '' })
        },
        (request) => {
          answers.push(latestAnswer(request))
          return { text: 'The other agent says: 7 files.' }
        },
      )
      const agent = await execa(
        codexBinary(version),
        ['exec', '--json', '--skip-git-repo-check', '--sandbox', 'read-only', TASK],
        {
          cwd: world.cwd,
          env: { PATH: process.env.PATH ?? '', HOME: agentHome.path, CODEX_HOME: agentHome.path },
          extendEnv: false,
          stdin: 'ignore',
          timeout: 45_000,
        },
      )
      expect(agent.stdout).toContain('The other agent says: 7 files.')
      expect(created?.status).toBe('accepted')
      const [waited, read] = answers
      expect(waited).toMatchObject({ timedOut: false, turn: { status: 'completed' } })
      expect(JSON.stringify(read)).toContain('There are 7 files.')
      expect(world.proxy.sent('thread/start')).toHaveLength(1)
    } finally {
      await agentHome.remove()
      await state.remove()
      await world.close()
    }
  })
})
