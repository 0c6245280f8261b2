import type { LogLevel } from '@codex-thread-bridge/core/contract'
import { at, poll, textAt } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, test } from 'vitest'
import type { CloseReason } from '../src/index.ts'
import { lineClient } from './line-client.ts'
import { gate, testHost } from './test-tools.ts'

const call = (name: string, args: object = {}, meta?: object) => ({
  name,
  arguments: args,
  ...(meta === undefined ? {} : { _meta: meta }),
})

const recorder = () => {
  const lines: { level: LogLevel; event: string; fields: unknown }[] = []
  const log = (level: LogLevel, event: string, fields?: unknown): void =>
    void lines.push({ level, event, fields })
  return { lines, log }
}

describe('on the wire', () => {
  test('introduces itself with name, version and instructions, and offers tools only', async () => {
    const client = await lineClient(await testHost())
    expect(await client.response(0)).toMatchObject({
      result: {
        protocolVersion: '2025-11-25',
        serverInfo: { name: 'test', title: 'Test', version: '1.2.3' },
        capabilities: { tools: {} },
        instructions: 'Be kind.',
      },
    })
  })

  test('lists the tools in the order of their names', async () => {
    const client = await lineClient(await testHost())
    const { result } = await client.ask(1, 'tools/list')
    const tools = at(result, 'tools')
    expect(Array.isArray(tools) && tools.map((tool) => at(tool, 'name'))).toEqual([
      'act',
      'crash',
      'echo',
      'refuse',
      'report',
      'wait',
    ])
  })

  test('answers a call, knowing who called', async () => {
    const client = await lineClient(await testHost())
    const meta = { threadId: 't', callId: 'c', 'x-codex-turn-metadata': { sandbox_mode: 'read-only' } }
    const answer = {
      text: 'hi',
      caller: { threadId: 't', sandbox: 'read-only', callIdentity: '["t",null,"c"]' },
    }
    expect((await client.ask(1, 'tools/call', call('echo', { text: 'hi' }, meta))).result).toEqual({
      content: [{ type: 'text', text: JSON.stringify(answer) }],
      structuredContent: answer,
    })
  })

  test('answers bad arguments as a tool error that names the field', async () => {
    const client = await lineClient(await testHost())
    const { result } = await client.ask(1, 'tools/call', call('echo', { text: 'hi', loud: true }))
    expect(result).toEqual({
      isError: true,
      content: [
        {
          type: 'text',
          text: '{"error":{"code":"invalid_arguments","message":"`loud` is not an argument here. Allowed: text.","hint":"Correct the named field and call again.","field":"loud","next":"fix_call"}}',
        },
      ],
    })
  })

  test.each([
    [[], 'The arguments must be an object (received []).'],
    ['text', 'The arguments must be an object (received "text").'],
    ['cut \ud800', 'The arguments must be an object (received "cut \\ud800").'],
    [7, 'The arguments must be an object (received 7).'],
  ])('answers arguments that are no object (%j) as a tool error', async (args, message) => {
    const client = await lineClient(await testHost())
    const { result } = await client.ask(1, 'tools/call', { name: 'echo', arguments: args })
    expect(result).toMatchObject({ isError: true })
    expect(JSON.parse(textAt(result, 'content.0.text'))).toEqual({
      error: {
        code: 'invalid_arguments',
        message,
        hint: 'Correct the named field and call again.',
        next: 'fix_call',
      },
    })
  })

  test('takes arguments that are null or not there for none', async () => {
    const client = await lineClient(await testHost())
    for (const [id, args] of [{ arguments: null }, {}].entries()) {
      const { result } = await client.ask(id + 1, 'tools/call', { name: 'echo', ...args })
      expect(textAt(result, 'content.0.text')).toContain('`text` is required.')
    }
  })

  test('answers a call without a tool, and an unknown method, with protocol errors', async () => {
    const client = await lineClient(await testHost())
    expect((await client.ask(1, 'tools/call', { name: 7 })).error).toEqual({
      code: -32602,
      message: 'MCP error -32602: tools/call needs the name of a tool',
    })
    expect((await client.ask(2, 'no/such')).error).toEqual({
      code: -32601,
      message: 'MCP error -32601: Unknown method: no/such',
    })
  })

  test('answers an unknown tool with the protocol error -32602', async () => {
    const client = await lineClient(await testHost())
    expect((await client.ask(1, 'tools/call', call('nope'))).error).toEqual({
      code: -32602,
      message: 'MCP error -32602: Unknown tool: nope',
    })
  })

  test('refuses a task before the tool acts', async () => {
    const door = gate()
    const host = await testHost(door)
    const client = await lineClient(host)
    door.open()
    const { error } = await client.ask(1, 'tools/call', {
      ...call('act', { request_id: 'r' }),
      task: { ttl: 1 },
    })
    expect(at(error, 'code')).toBe(-32603)
    expect((await host.operations.list({ limit: 1 })).receipts).toEqual([])
  })

  test('takes arguments that are left out as none', async () => {
    const client = await lineClient(await testHost())
    const { result } = await client.ask(1, 'tools/call', { name: 'report' })
    expect(at(result, 'structuredContent')).toEqual({ reported: 3 })
  })

  test('goes on after a line that is no JSON, and logs nothing of what it said', async () => {
    const { lines, log } = recorder()
    const client = await lineClient(await testHost(), { log })
    client.input.write('my secret prompt\n')
    expect((await client.ask(1, 'ping')).result).toEqual({})
    expect(lines).toEqual([{ level: 'warn', event: 'mcp_message_refused', fields: { error: 'SyntaxError' } }])
  })

  test('tells a bug as an internal error, and logs where it happened but not its message', async () => {
    const { lines, log } = recorder()
    const client = await lineClient(await testHost(), { log })
    const { result } = await client.ask(1, 'tools/call', call('crash'))
    expect(at(result, 'isError')).toBe(true)
    expect(lines.map(({ level, event }) => [level, event])).toEqual([['error', 'call_failed']])
    expect(JSON.stringify(lines)).toContain('test-tools.ts')
    expect(JSON.stringify(lines)).not.toContain('launch')
  })
})

describe('progress and cancellation', () => {
  test('sends no progress without a token', async () => {
    const client = await lineClient(await testHost())
    await client.ask(1, 'tools/call', call('report'))
    expect(client.received.filter(({ method }) => method !== undefined)).toEqual([])
  })

  test('sends the first progress of a second, with the token', async () => {
    const client = await lineClient(await testHost())
    await client.ask(1, 'tools/call', call('report', {}, { progressToken: 'p' }))
    expect(client.received.filter(({ method }) => method !== undefined)).toEqual([
      {
        jsonrpc: '2.0',
        method: 'notifications/progress',
        params: { progressToken: 'p', progress: 1, message: 'one' },
      },
    ])
  })

  test('passes a cancellation on to the tool and answers nothing more', async () => {
    const door = gate()
    const { lines, log } = recorder()
    const client = await lineClient(await testHost(door, { log }))
    client.send({ id: 1, method: 'tools/call', params: call('wait') })
    await door.entered
    client.send({ method: 'notifications/cancelled', params: { requestId: 1 } })
    await poll(() => lines.some(({ event }) => event === 'wait_cancelled'))
    await client.ask(2, 'ping')
    expect(client.received.some(({ id }) => id === 1)).toBe(false)
  })
})

describe('shutdown', () => {
  test('answers the calls in flight after its input has ended, then closes the host', async () => {
    const door = gate()
    const reasons: CloseReason[] = []
    const host = await testHost(door)
    const client = await lineClient(host, { onClose: (reason) => void reasons.push(reason) })
    client.send({ id: 1, method: 'tools/call', params: call('wait') })
    await door.entered
    client.input.end()
    door.open()
    await client.serving.closed
    expect(at((await client.response(1)).result, 'structuredContent')).toEqual({ ended: 'opened' })
    expect(reasons).toEqual(['input_ended'])
    await expect(host.call('report', {})).rejects.toMatchObject({ code: 'host_state' })
  })

  test('does not wait for reads once it is stopped, also when its input had ended before', async () => {
    const door = gate()
    const client = await lineClient(await testHost(door))
    client.send({ id: 1, method: 'tools/call', params: call('wait') })
    await door.entered
    client.input.end()
    const begun = performance.now()
    client.serving.stop()
    await client.serving.closed
    expect(performance.now() - begun).toBeLessThan(3_000)
    expect(client.received.some(({ id }) => id === 1)).toBe(false)
  })

  test('lets a running mutation finish and answers it when it is stopped', async () => {
    const door = gate()
    const host = await testHost(door)
    const client = await lineClient(host)
    client.send({ id: 1, method: 'tools/call', params: call('act', { request_id: 'r' }) })
    await door.entered
    client.serving.stop()
    door.open()
    await client.serving.closed
    expect(at((await client.response(1)).result, 'structuredContent')).toMatchObject({
      requestId: 'r',
      status: 'accepted',
      acted: true,
    })
  })

  test('shuts down once, whatever comes together', async () => {
    const reasons: CloseReason[] = []
    const client = await lineClient(await testHost(), { onClose: (reason) => void reasons.push(reason) })
    client.serving.stop()
    client.serving.stop()
    client.input.end()
    client.input.destroy()
    await client.serving.closed
    expect(reasons).toEqual(['stopped'])
  })

  test('shuts down when its output breaks', async () => {
    const reasons: CloseReason[] = []
    const client = await lineClient(await testHost(), { onClose: (reason) => void reasons.push(reason) })
    client.output.destroy(new Error('EPIPE'))
    await client.serving.closed
    expect(reasons).toEqual(['output_failed'])
  })

  test('shuts down when a line is longer than the transport takes', async () => {
    const reasons: CloseReason[] = []
    const client = await lineClient(await testHost(), { onClose: (reason) => void reasons.push(reason) })
    client.input.write('x'.repeat(11 * 1024 * 1024))
    await client.serving.closed
    expect(reasons).toEqual(['transport_closed'])
  })
})
