import { BridgeError } from '@codex-thread-bridge/core/contract'
import { expect, test } from 'vitest'
import { toMcpError, toMcpResult, toMcpTool } from '../src/index.ts'
import { testHost } from './test-tools.ts'

test('shows a read with its schemas unchanged and annotations that say it is one', async () => {
  const host = await testHost()
  const echo = host.tools.find(({ name }) => name === 'echo')
  expect(echo && JSON.parse(JSON.stringify(toMcpTool(echo)))).toEqual({
    name: 'echo',
    title: 'Echo',
    description: 'Answers with its text and with who called.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', description: 'Any text.' } },
      required: ['text'],
      additionalProperties: false,
    },
    outputSchema: {
      type: 'object',
      properties: { text: { type: 'string' }, caller: { type: 'object', properties: {} } },
      required: ['text', 'caller'],
    },
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  })
})

test('shows a mutation with request_id as destructive and idempotent', async () => {
  const host = await testHost()
  const act = host.tools.find(({ name }) => name === 'act')
  expect(act && toMcpTool(act).annotations).toEqual({
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: true,
    openWorldHint: true,
  })
})

test('answers with structured content and its exact JSON as the one text', () => {
  const value = { b: 1, a: ['ä\n', null], left: undefined }
  expect(toMcpResult(value)).toEqual({
    content: [{ type: 'text', text: '{"b":1,"a":["ä\\n",null]}' }],
    structuredContent: value,
  })
})

test.each([['text'], [['list']], [null], [undefined]])('refuses %j, which is no object', (value) => {
  expect(() => toMcpResult(value)).toThrow('A tool answered with something that is no object.')
})

test('tells an error as text JSON alone, without its details', () => {
  const error = new BridgeError('invalid_cursor', 'No such page.', { field: 'cursor', details: { at: 1 } })
  expect(toMcpError(error)).toEqual({
    isError: true,
    content: [
      {
        type: 'text',
        text: '{"error":{"code":"invalid_cursor","message":"No such page.","hint":"Pass nextCursor exactly as it was returned, or leave the cursor out.","field":"cursor","next":"fix_call"}}',
      },
    ],
  })
})

test('leaves out a field that an error does not have', () => {
  const [content] = toMcpError(new BridgeError('cancelled', 'Gone.')).content
  expect(content).toEqual({
    type: 'text',
    text: '{"error":{"code":"cancelled","message":"Gone.","hint":"Nothing happened. Repeat the call if you still want it.","next":"same_request_id"}}',
  })
})
