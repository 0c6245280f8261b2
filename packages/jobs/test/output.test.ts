import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir, writeStandIn, standInPrompt, type Step } from '@codex-thread-bridge/test-fixtures'
import { afterAll, expect, it } from 'vitest'
import { clis } from '../src/clis/index.ts'
import { Follower } from '../src/output/follower.ts'
import { LineSplitter } from '../src/output/line-splitter.ts'
import { newReading } from '../src/output/reading.ts'
import { readPiece } from '../src/output/tail.ts'
import { codexLines } from './support/jobs-host.ts'

const root = tempDir('jo')
afterAll(() => root.remove())
let files = 0
const fileOf = (bytes: Buffer | string): string => {
  files += 1
  const path = join(root.path, `out-${files}`)
  writeFileSync(path, bytes)
  return path
}

const read = async (bytes: Buffer | string) => {
  const follower = new Follower(fileOf(bytes), clis.codex, newReading(), () => 0)
  await follower.finish()
  return follower.reading
}

const message = (text: string): string =>
  `${JSON.stringify({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text } })}\n`

it('characters that are split between two chunks stay whole', () => {
  const text = 'Ä日本語✓𝄞'.repeat(50)
  const bytes = Buffer.from(`${text}\r\n${text}`)
  for (const size of [1, 2, 3, 5, 7, 64]) {
    const lines: string[] = []
    const splitter = new LineSplitter((line) => lines.push(line))
    for (let from = 0; from < bytes.length; from += size) splitter.push(bytes.subarray(from, from + size))
    splitter.end()
    expect(lines).toEqual([`${text}\r`, text])
  }
})

it('a file that grows within a line and within a character is read once, each line when it is whole', async () => {
  const bytes = Buffer.from(message('日本語 ✓'))
  const path = fileOf('')
  const seen: number[] = []
  const follower = new Follower(
    path,
    clis.codex,
    newReading(),
    () => 0,
    (_events, offset) => {
      seen.push(offset)
      return true
    },
  )
  for (const byte of bytes) {
    appendFileSync(path, Buffer.from([byte]))
    await follower.catchUp()
  }
  expect(follower.reading.message).toBe('日本語 ✓')
  expect(seen).toEqual([bytes.length])
})

it('a reading goes on where another one stopped, at a line', async () => {
  const first = Buffer.from(message('one'))
  const path = fileOf(Buffer.concat([first, Buffer.from(message('two').slice(0, 20))]))
  const before = new Follower(path, clis.codex, newReading(), () => 0)
  await before.catchUp()
  expect([before.reading.offset, before.reading.message]).toEqual([first.length, 'one'])
  appendFileSync(path, message('two').slice(20))
  const after = new Follower(path, clis.codex, { ...before.reading }, () => 0)
  await after.finish()
  expect([after.reading.message, after.reading.lines]).toEqual(['two', 2])
})

it.each([
  ['CRLF', message('ok').replace('\n', '\r\n')],
  ['colours around the event', `\u001b[32m${message('ok').trim()}\u001b[0m\n`],
  ['NUL bytes', `\0\0${message('ok')}\0\0\n`],
  ['no end of the last line', message('ok').trim()],
  ['lines that are no events', `Warning: something\n[1,2]\nnull\n"x"\n${message('ok')}{"half":\n`],
  [
    'events of another shape',
    `{"type":7}\n{"type":"item.completed"}\n{"type":"turn.completed","usage":"none"}\n${message('ok')}`,
  ],
])('%s do not keep an event from being read', async (_name, text) => {
  expect((await read(text)).message).toBe('ok')
})

it('what is no UTF-8 becomes the replacement character, and the rest is read', async () => {
  const [before, after] = message('a|b').split('|')
  const bytes = Buffer.concat([
    Buffer.from(before ?? ''),
    Buffer.from([0xff, 0xc3]),
    Buffer.from(after ?? ''),
  ])
  expect((await read(bytes)).message).toBe('a\ufffd\ufffdb')
})

it('empty output is a reading of nothing', async () => {
  expect(await read('')).toEqual(newReading())
})

it('a long line keeps its shape: its strings are shortened within no escape and no character', async () => {
  const long = '\\"日\n'.repeat(700_000)
  const text = `${JSON.stringify({ long, type: 'item.completed', item: { type: 'agent_message', text: 'short' } })}\n`
  expect((await read(text)).message).toBe('short')
})

const writeBig = async (steps: readonly Step[]): Promise<string> => {
  const path = join(root.path, `big-${(files += 1)}`)
  const prompt = fileOf(standInPrompt(...steps))
  const child = spawn(process.execPath, [writeStandIn(root.path, 'writer')], {
    stdio: [openSync(prompt, 'r'), openSync(path, 'w'), 'inherit'],
  })
  await once(child, 'exit')
  return path
}

const growthOf = async (act: () => Promise<unknown>): Promise<number> => {
  const before = process.memoryUsage().rss
  let peak = before
  const timer = setInterval(() => (peak = Math.max(peak, process.memoryUsage().rss)), 5)
  await act()
  clearInterval(timer)
  return (Math.max(peak, process.memoryUsage().rss) - before) / 1_048_576
}

it('600 MB of output are read in little memory', async () => {
  const line = message('x'.repeat(2_000))
  const path = await writeBig([{ fill: 600_000_000, line }, { print: codexLines('the end') }])
  const follower = new Follower(path, clis.codex, newReading(), () => 0)
  const grown = await growthOf(() => follower.finish())
  expect(follower.reading).toMatchObject({ message: 'the end', closed: 'success', strangeLines: 0 })
  expect(grown).toBeLessThan(100)
})

it('one line of 200 MB is read in little memory, its event included', async () => {
  const path = await writeBig([
    {
      longLine: 200_000_000,
      before: '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"',
      after: '"}}\n',
    },
    { print: '{"type":"turn.completed"}\n' },
  ])
  const follower = new Follower(path, clis.codex, newReading(), () => 0)
  const grown = await growthOf(() => follower.finish())
  expect(follower.reading.message).toBe('x'.repeat(1_048_576))
  expect(follower.reading).toMatchObject({ closed: 'success', lines: 2 })
  expect(grown).toBeLessThan(100)
})

it('raw output is shown in pieces of whole characters', async () => {
  const path = fileOf('日本語')
  expect(await readPiece(path, 0, 4)).toEqual({ text: '日', next: 3, size: 9 })
  expect(await readPiece(path, 3, 100)).toEqual({ text: '本語', next: 9, size: 9 })
  expect(await readPiece(path, 50, 10)).toEqual({ text: '', next: 50, size: 9 })
})

it('the message of opencode is that of the last step that has one, and usage is the sum of the steps', async () => {
  const part = (messageID: string, more: object) => ({ sessionID: 'ses_1', part: { messageID, ...more } })
  const tokens = { input: 10, output: 3, reasoning: 1, cache: { read: 5, write: 2 } }
  const events = [
    { type: 'step_start', ...part('m1', {}) },
    { type: 'text', ...part('m1', { text: 'The answer,' }) },
    { type: 'text', ...part('m1', { text: 'in two parts.' }) },
    { type: 'step_finish', ...part('m1', { reason: 'tool-calls', tokens, cost: 0.5 }) },
    { type: 'step_start', ...part('m2', {}) },
    { type: 'step_finish', ...part('m2', { reason: 'stop', tokens, cost: 0.25 }) },
  ]
  const path = fileOf(events.map((event) => `${JSON.stringify(event)}\n`).join(''))
  const follower = new Follower(path, clis.opencode, newReading(), () => 0)
  await follower.finish()
  expect(follower.reading).toMatchObject({
    message: 'The answer,\nin two parts.',
    closed: 'success',
    costUsd: 0.75,
    usage: {
      inputTokens: 34,
      cachedInputTokens: 10,
      cacheWriteTokens: 4,
      outputTokens: 6,
      reasoningTokens: 2,
      totalTokens: 40,
    },
  })
})

it('a claude that repeats its request says so while it runs, and has that as its error when it is ended', async () => {
  const retry = {
    type: 'system',
    subtype: 'api_retry',
    attempt: 3,
    max_retries: 10,
    error_status: 401,
    error: 'authentication_failed',
  }
  const follower = new Follower(fileOf(`${JSON.stringify(retry)}\n`), clis.claude, newReading(), () => 0)
  await follower.finish()
  expect(follower.reading.retrying).toEqual({
    kind: 'auth',
    message: 'authentication_failed, attempt 3 of 10',
    statusCode: 401,
  })
})
