import { expect, test } from 'vitest'
import { callerOf } from '../src/index.ts'

const turn = {
  session_id: 'session-1',
  thread_id: 'thread-1',
  turn_id: 'turn-1',
  sandbox: 'seccomp',
  sandbox_mode: 'read-only',
  model: 'scripted',
  codex_version: '0.171.0',
}
/** As Codex 0.153.4 and 0.171.0 send it, with ids shortened. */
const fromCodex = {
  callId: 'call_1',
  itemId: 'fc_1',
  threadId: 'thread-1',
  progressToken: 1,
  'x-codex-turn-metadata': turn,
}
const codexCaller = {
  threadId: 'thread-1',
  turnId: 'turn-1',
  sandbox: 'read-only',
  callIdentity: '["thread-1","turn-1","call_1"]',
}

test('reads thread, turn, sandbox and call identity from what Codex sends', () => {
  expect(callerOf(fromCodex)).toEqual(codexCaller)
})

test.each([
  ['a mode of a later version', 'custom', 'custom'],
  ['a mode that is no text', { type: 'read-only' }, 'unreadable'],
  ['an empty mode', '', 'unreadable'],
  ['an endless mode', 'x'.repeat(257), 'unreadable'],
  ['no mode', null, undefined],
])('tells %s of the calling agent', (_, told, sandbox) => {
  const meta = { 'x-codex-turn-metadata': { ...turn, sandbox_mode: told } }
  expect(callerOf(meta).sandbox).toBe(sandbox)
})

test('reads turn metadata that comes as JSON text', () => {
  expect(callerOf({ ...fromCodex, 'x-codex-turn-metadata': JSON.stringify(turn) })).toEqual(codexCaller)
})

test('takes the thread from the turn metadata when the request does not name it', () => {
  expect(callerOf({ ...fromCodex, threadId: undefined })).toEqual(codexCaller)
})

test('identifies a call by its item id when it has no call id', () => {
  expect(callerOf({ ...fromCodex, callId: undefined }).callIdentity).toBe('["thread-1","turn-1","fc_1"]')
})

test('gives no call identity without a call or item id', () => {
  expect(callerOf({ ...fromCodex, callId: undefined, itemId: undefined })).toEqual({
    threadId: 'thread-1',
    turnId: 'turn-1',
    sandbox: 'read-only',
  })
})

test('gives no call identity to a call id without a thread, for it may come again elsewhere', () => {
  expect(callerOf({ callId: '1' })).toEqual({})
})

test.each([
  ['nothing', undefined],
  ['null', null],
  ['an array', ['thread-1']],
  ['a number', 7],
  ['members of the wrong type', { threadId: 7, callId: {}, itemId: null }],
  ['empty and endless names', { threadId: '', callId: 'x'.repeat(257) }],
  ['no turn metadata', { 'x-codex-turn-metadata': null }],
])('knows nobody from %s', (_, meta) => {
  expect(callerOf(meta)).toEqual({})
})

test.each([
  ['that is no JSON', '{"sandbox_mode":'],
  ['that is JSON of something else', '[1]'],
  ['that is a list', [{ sandbox_mode: 'read-only' }]],
  ['that is a number', 9],
])('takes turn metadata %s for a limit that it cannot read', (_, told) => {
  expect(callerOf({ 'x-codex-turn-metadata': told })).toEqual({ sandbox: 'unreadable' })
})
