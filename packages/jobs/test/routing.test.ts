import { BridgeError } from '@codex-thread-bridge/core/contract'
import { describe, expect, it } from 'vitest'
import { routeOf, type Asked } from '../src/clis/route.ts'

const route = (asked: Asked) => {
  const { cli, model, effort } = routeOf(asked, () => 'claude')
  return [cli.agent, model, effort]
}

const refusal = (asked: Asked): readonly [string, string | undefined, string] => {
  try {
    routeOf(asked, () => 'claude')
  } catch (error) {
    if (BridgeError.is(error)) return [error.code, error.field, error.message]
  }
  throw new Error(`${JSON.stringify(asked)} was not refused`)
}

describe('a model chooses the CLI', () => {
  it.each([
    [{}, ['claude', undefined, undefined]],
    [{ model: 'claude-ultra' }, ['claude', 'opus', 'max']],
    [{ model: 'codex-ultra' }, ['codex', 'gpt-5.5', 'xhigh']],
    [{ model: 'codex-ultra', reasoning_effort: 'low' }, ['codex', 'gpt-5.5', 'low']],
    [{ model: 'opencode' }, ['opencode', undefined, undefined]],
    [{ model: 'oc-mock/some/model' }, ['opencode', 'mock/some/model', undefined]],
    [{ model: 'forge' }, ['forge', undefined, undefined]],
    [{ model: 'antigravity' }, ['antigravity', undefined, undefined]],
    [{ model: 'codex' }, ['codex', undefined, undefined]],
    [{ model: 'gpt-7-anything' }, ['codex', 'gpt-7-anything', undefined]],
    [{ model: 'sonnet[1m]' }, ['claude', 'sonnet[1m]', undefined]],
    [{ model: 'claude-haiku-4-5-20251001' }, ['claude', 'claude-haiku-4-5-20251001', undefined]],
  ])('%j', (asked, expected) => {
    expect(route(asked)).toEqual(expected)
  })
})

describe('agent wins over what the model implies', () => {
  it.each([
    [{ agent: 'codex', model: 'my-own-model' }, ['codex', 'my-own-model', undefined]],
    [{ agent: 'opencode', model: 'mock/model' }, ['opencode', 'mock/model', undefined]],
    [{ agent: 'claude', model: 'gpt-5.5' }, ['claude', 'gpt-5.5', undefined]],
    [{ agent: 'claude', model: 'claude-ultra' }, ['claude', 'opus', 'max']],
  ] as const)('%j', (asked, expected) => {
    expect(route(asked)).toEqual(expected)
  })
})

describe('what is not known is refused', () => {
  it('a typo, with the nearest name', () => {
    expect(refusal({ model: 'sonet' })).toEqual([
      'unknown_model',
      'model',
      'Unknown model "sonet". No CLI here has it; the nearest name is sonnet.',
    ])
  })

  it.each([
    ['codex', 'claude-ultra', 'Codex does not have it; the nearest name is codex-ultra.'],
    ['claude', 'codex-ultra', 'Claude Code does not have it; the nearest name is claude-ultra.'],
    ['codex', ' gpt-5.5', 'Codex does not have it; the nearest name is gpt-5.5.'],
    ['claude', 'sonnet 5', 'Claude Code does not have it; the nearest name is sonnet.'],
    ['codex', 'sonnet 5', 'Codex does not have it; the nearest name is codex.'],
    ['opencode', 'codex-ultra', 'OpenCode takes PROVIDER/MODEL, or oc-PROVIDER/MODEL.'],
    ['forge', 'claude-ultra', 'Forge has no choice of models: leave `model` out.'],
  ] as const)('one that %s does not take, with the nearest that it does: %s', (agent, model, words) => {
    expect(refusal({ agent, model })).toEqual([
      'unknown_model',
      'model',
      `Unknown model ${JSON.stringify(model)}. ${words}`,
    ])
  })

  it('gemini, which was discontinued', () => {
    expect(refusal({ model: 'Gemini-3' })).toEqual([
      'unknown_model',
      'model',
      'Unknown model "Gemini-3". The Gemini CLI was discontinued and is not run.',
    ])
  })

  it.each(['oc-', 'oc-mock/', 'oc-/model', 'oc-mock/ model', ' opus', '--help', 'gpt-5 --x', 'constructor'])(
    '%j',
    (model) => {
      expect(refusal({ model })[0]).toBe('unknown_model')
    },
  )

  it.each([
    ['codex', '--oss'],
    ['opencode', 'model-without-provider'],
    ['forge', 'opus'],
    ['codex', 'claude-ultra'],
  ] as const)('a model that %s cannot have: %s', (agent, model) => {
    expect(refusal({ agent, model })[0]).toBe('unknown_model')
  })

  it.each([
    [{ model: 'gpt-5.5', reasoning_effort: 'max' }, 'Codex takes low, medium, high, xhigh'],
    [{ model: 'opus', reasoning_effort: 'ultra' }, 'Claude Code takes low, medium, high, xhigh, max'],
    [{ model: 'forge', reasoning_effort: 'low' }, 'Forge takes no reasoning effort'],
  ])('an effort that the CLI lacks: %j', (asked, words) => {
    const [code, field, message] = refusal(asked)
    expect([code, field]).toEqual(['invalid_arguments', 'reasoning_effort'])
    expect(message).toContain(words)
  })

  it.each([
    ['codex', '--last'],
    ['claude', '-r'],
    ['opencode', '--continue'],
    ['forge', '--help'],
    ['antigravity', '-x'],
    ['codex', '01a22d75-bbf9-7190-b25e-d569e4870f3e --last'],
  ] as const)('a session id of %s that looks like an option: %s', (agent, session_id) => {
    const [code, field] = refusal({ agent, session_id })
    expect([code, field]).toEqual(['invalid_arguments', 'session_id'])
  })
})
