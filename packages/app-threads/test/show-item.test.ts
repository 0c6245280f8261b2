import type { Item } from '@codex-thread-bridge/core/protocol'
import { describe, expect, it } from 'vitest'
import { showItem } from '../src/show-item.ts'

const image = `data:image/png;base64,${'A'.repeat(3_800_000)}`
const long = 'x'.repeat(10_000)
const item = (type: string, members: object): Item => ({ type, id: 'item-1', ...members })

/** Every type of item with as much in it as it can have. */
const items: readonly Item[] = [
  item('userMessage', {
    content: [
      { type: 'image', url: image },
      { type: 'localImage', path: '/a.png' },
    ],
  }),
  item('agentMessage', { text: 'short', phase: 'commentary' }),
  item('plan', { text: 'plan' }),
  item('reasoning', { summary: ['why'], content: [long, long] }),
  item('commandExecution', { command: 'ls', cwd: '/', status: 'completed', aggregatedOutput: long }),
  item('fileChange', {
    status: 'completed',
    changes: [1, 2, 3].map((n) => ({ path: `/${n}`, kind: { type: 'add' }, diff: long })),
  }),
  item('mcpToolCall', {
    server: 's',
    tool: 't',
    status: 'completed',
    arguments: { text: long },
    result: {
      content: [
        { type: 'text', text: long },
        { type: 'image', data: image },
      ],
    },
  }),
  item('dynamicToolCall', {
    tool: 't',
    status: 'completed',
    arguments: {},
    contentItems: [{ type: 'inputImage', imageUrl: image }],
  }),
  item('webSearch', { query: 'q', action: { type: 'search' }, results: [long] }),
  item('imageView', { path: '/a.png' }),
  item('imageGeneration', { status: 'completed', result: image, savedPath: '/b.png' }),
  item('functionCallOutput', { name: 'f', output: [{ type: 'input_image', image_url: image }] }),
  item('contextCompaction', {}),
  item('somethingNew', { blob: image }),
]

const outputs = { outputs: true, maxOutputChars: 500 }

describe('an item as it is shown', () => {
  it.each(items.map((shown) => [shown.type, shown] as const))(
    'keeps %s within the limit, images and all',
    (_, shown) => {
      expect(JSON.stringify(showItem(shown, outputs)).length).toBeLessThan(1_200)
      const without = JSON.stringify(showItem(shown, { outputs: false, maxOutputChars: 500 }))
      expect(without).not.toContain('xxx')
      expect(without).not.toContain('AAA')
    },
  )

  it('shares one limit among all outputs of an item, and tells how long each was', () => {
    const shown = showItem(items[5] ?? item('none', {}), outputs)
    expect(shown).toMatchObject({
      changes: [
        { path: '/1', kind: 'add', diff: { text: 'x'.repeat(500), truncated: true, originalChars: 10_000 } },
        { diff: { text: '', truncated: true, originalChars: 10_000 } },
        { diff: { text: '', truncated: true, originalChars: 10_000 } },
      ],
    })
  })

  it('tells of an image its size alone', () => {
    expect(showItem(items[0] ?? item('none', {}), outputs)).toEqual({
      type: 'userMessage',
      id: 'item-1',
      content: [
        { type: 'image', originalChars: image.length },
        { type: 'localImage', path: '/a.png' },
      ],
    })
    expect(showItem(items[10] ?? item('none', {}), outputs)).toMatchObject({
      image: { text: '', truncated: true, originalChars: image.length },
    })
  })

  it('shows an unknown type by its type and id', () => {
    expect(showItem(item('somethingNew', { blob: 'x' }), outputs)).toEqual({
      type: 'somethingNew',
      id: 'item-1',
    })
  })
})
