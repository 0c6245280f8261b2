import { fileURLToPath } from 'node:url'
import { startMcpClient, type McpClientProcess } from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, expect, test } from 'vitest'

let client: McpClientProcess

beforeAll(async () => {
  const server = fileURLToPath(new URL('tiny-server.ts', import.meta.url))
  client = await startMcpClient({ command: process.execPath, args: ['--import', 'tsx', server] })
})
afterAll(() => client.close())

test('an SDK client accepts the list of tools and checks answers against their output schemas', async () => {
  expect((await client.tools()).map(({ name }) => name)).toEqual([
    'act',
    'crash',
    'echo',
    'refuse',
    'report',
    'wait',
  ])
  const { structured, text } = await client.call('act', { request_id: 'r' })
  expect(structured).toMatchObject({ requestId: 'r', status: 'accepted', acted: true, replayed: false })
  expect(JSON.parse(text)).toEqual(structured)
})

test('an SDK client gets an error whole, although the tool has an output schema', async () => {
  const result = await client.call('refuse')
  expect(result.isError).toBe(true)
  expect(result.structured).toBeUndefined()
  expect(result.error).toEqual({
    code: 'invalid_cursor',
    message: 'No such page.',
    hint: 'Pass nextCursor exactly as it was returned, or leave the cursor out.',
    field: 'cursor',
    next: 'fix_call',
  })
})

test('an SDK client sees an unknown tool as a protocol error', async () => {
  await expect(client.call('nope')).rejects.toMatchObject({ code: -32602 })
})

test('a mutation without request_id is the same call again for the same thread, turn and call id', async () => {
  const meta = { threadId: 't', callId: 'c', 'x-codex-turn-metadata': { turn_id: 'u' } }
  const first = await client.call('act', {}, { meta })
  const again = await client.call('act', {}, { meta })
  const other = await client.call('act', {}, { meta: { ...meta, callId: 'd' } })
  expect(again.structured).toEqual({ ...first.structured, replayed: true })
  expect(other.structured?.requestId).not.toBe(first.structured?.requestId)
  expect(first.structured?.caller).toEqual({ threadId: 't', turnId: 'u' })
})
