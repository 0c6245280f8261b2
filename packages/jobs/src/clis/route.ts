import { BridgeError } from '@codex-thread-bridge/core/contract'
import { closestMatch } from 'leven'
import type { Agent } from '../store/job.ts'
import type { Cli } from './cli.ts'
import { allClis, clis } from './index.ts'

interface Alias {
  readonly agent: Agent
  readonly model: string
  readonly effort: string
}

/** Names for a model with an effort; an explicit effort beats the alias's. */
export const aliases: Readonly<Record<string, Alias>> = {
  'claude-ultra': { agent: 'claude', model: 'opus', effort: 'max' },
  'codex-ultra': { agent: 'codex', model: 'gpt-5.5', effort: 'xhigh' },
}

export interface Asked {
  readonly agent?: Agent
  readonly model?: string
  readonly reasoning_effort?: string
  readonly session_id?: string
}

export interface Route {
  readonly cli: Cli
  readonly model: string | undefined
  readonly effort: string | undefined
  readonly sessionId: string | undefined
}

/** A model's name never looks like an option, and has no blanks. */
const MODEL = /^[A-Za-z0-9][A-Za-z0-9._:[\]-]*$/
const OPENCODE_MODEL = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._:/-]*$/

/** Every name that stands for an agent or a model. */
const knownNames: readonly string[] = [
  ...Object.keys(aliases),
  'codex',
  ...allClis.flatMap(({ models }) => models),
]

/** Of these names, those that one agent takes. */
const namesOf = ({ agent, models }: Cli): readonly string[] => [
  ...Object.keys(aliases).filter((name) => aliases[name]?.agent === agent),
  agent,
  ...models,
]

const unknown = (model: string, why: string): BridgeError =>
  new BridgeError('unknown_model', `Unknown model ${JSON.stringify(model.slice(0, 100))}. ${why}`, {
    field: 'model',
  })

/** The nearest of the names that would be taken. */
const misspelt = (model: string, who: string, names: readonly string[]): BridgeError => {
  const nearest = closestMatch(model, names)
  return unknown(model, `${who} it${nearest === undefined ? '' : `; the nearest name is ${nearest}`}.`)
}

type Target = Pick<Route, 'cli' | 'model' | 'effort'>
const target = (agent: Agent, model?: string, effort?: string): Target => ({
  cli: clis[agent],
  model,
  effort,
})

const opencodeModel = (asked: string): Target => {
  const model = asked.replace(/^oc-/, '')
  if (!OPENCODE_MODEL.test(model))
    throw unknown(asked, 'OpenCode takes PROVIDER/MODEL, or oc-PROVIDER/MODEL.')
  return target('opencode', model)
}

/** The agent that a model's name stands for. */
const byModel = (model: string): Target => {
  const alias = Object.hasOwn(aliases, model) ? aliases[model] : undefined
  if (alias !== undefined) return target(alias.agent, alias.model, alias.effort)
  if (/^gemini/i.test(model)) throw unknown(model, 'The Gemini CLI was discontinued and is not run.')
  if (model === 'opencode' || model === 'forge' || model === 'antigravity' || model === 'codex')
    return target(model)
  if (model.startsWith('oc-')) return opencodeModel(model)
  if (/^gpt-/.test(model) && MODEL.test(model)) return target('codex', model)
  if (clis.claude.models.includes(model) || (/^claude-/.test(model) && MODEL.test(model)))
    return target('claude', model)
  throw misspelt(model, 'No CLI here has', knownNames)
}

/** A model for an agent that was named: the agent wins over what the name implies. */
const forAgent = (agent: Agent, model: string | undefined): Target => {
  if (model === undefined || model === agent) return target(agent)
  const alias = Object.hasOwn(aliases, model) ? aliases[model] : undefined
  if (alias?.agent === agent) return target(agent, alias.model, alias.effort)
  if (agent === 'opencode') return opencodeModel(model)
  if (agent === 'forge' || agent === 'antigravity')
    throw unknown(model, `${clis[agent].title} has no choice of models: leave \`model\` out.`)
  if (alias !== undefined || !MODEL.test(model))
    throw misspelt(model, `${clis[agent].title} does not have`, namesOf(clis[agent]))
  return target(agent, model)
}

const checkEffort = ({ title, efforts }: Cli, effort: string | undefined): void => {
  if (effort === undefined || efforts.includes(effort)) return
  const allowed = efforts.length === 0 ? 'takes no reasoning effort' : `takes ${efforts.join(', ')}`
  throw new BridgeError(
    'invalid_arguments',
    `\`reasoning_effort\` ${JSON.stringify(effort.slice(0, 100))}: ${title} ${allowed}.`,
    { field: 'reasoning_effort' },
  )
}

const checkSession = ({ title, session }: Cli, sessionId: string | undefined): void => {
  if (sessionId === undefined || session.test(sessionId)) return
  throw new BridgeError('invalid_arguments', `\`session_id\` is no session id of ${title}.`, {
    field: 'session_id',
    hint: 'Pass session_id exactly as get_result of the earlier job shows it.',
  })
}

/**
 * Which CLI, with which model and effort. `standard` finds the agent when neither agent nor model is named.
 * @throws BridgeError unknown_model, invalid_arguments; what `standard` throws
 */
export const routeOf = (asked: Asked, standard: () => Agent): Route => {
  const { agent, model } = asked
  const found =
    agent !== undefined ? forAgent(agent, model) : model === undefined ? target(standard()) : byModel(model)
  const effort = asked.reasoning_effort ?? found.effort
  checkEffort(found.cli, effort)
  checkSession(found.cli, asked.session_id)
  return { cli: found.cli, model: found.model, effort, sessionId: asked.session_id }
}
