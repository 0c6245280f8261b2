import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from '../temp-dir.ts'
import { cliBinary } from './cli-binary.ts'
import { startChatModel, startMessagesModel, type CliModel } from './cli-model.ts'

/** A real CLI with a scripted model on a loopback port, and a home of its own. */
export interface RealCli {
  readonly model: CliModel
  readonly env: Readonly<Record<string, string>>
  close(): Promise<void>
}

/** Permission to use the shell, as a person may give it to their CLI. */
const claudeSettings = { permissions: { allow: ['Bash'] } }

const opencodeConfig = (url: string): object => ({
  provider: {
    mock: {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: `${url}/v1`, apiKey: 'none' },
      models: { 'mock-model': { name: 'Mock' } },
    },
  },
  model: 'mock/mock-model',
  small_model: 'mock/mock-model',
  autoupdate: false,
})

const write = (path: string, value: object): void => writeFileSync(path, JSON.stringify(value))

/** @throws Error with the reason when the CLI is not here */
export async function startRealCli(cli: 'claude' | 'opencode'): Promise<RealCli> {
  const binary = cliBinary(cli)
  if ('missing' in binary) throw new Error(binary.missing)
  const home = tempDir('jr')
  const model = await (cli === 'claude' ? startMessagesModel() : startChatModel())
  const base = { PATH: process.env.PATH ?? '', HOME: home.path }
  const close = async (): Promise<void> => {
    await model.close()
    await home.remove()
  }
  if (cli === 'claude') {
    const config = join(home.path, '.claude')
    mkdirSync(config)
    write(join(config, 'settings.json'), claudeSettings)
    return {
      model,
      close,
      env: {
        ...base,
        CLAUDE_CLI_NAME: binary.path,
        CLAUDE_CONFIG_DIR: config,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'none',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        CLAUDE_CODE_MAX_RETRIES: '0',
        DISABLE_AUTOUPDATER: '1',
      },
    }
  }
  const config = join(home.path, '.config', 'opencode')
  mkdirSync(config, { recursive: true })
  write(join(config, 'opencode.json'), opencodeConfig(model.url))
  return {
    model,
    close,
    env: {
      ...base,
      OPENCODE_CLI_NAME: binary.path,
      XDG_CONFIG_HOME: join(home.path, '.config'),
      XDG_DATA_HOME: join(home.path, '.data'),
      XDG_CACHE_HOME: join(home.path, '.cache'),
      XDG_STATE_HOME: join(home.path, '.state'),
      OPENCODE_DISABLE_AUTOUPDATE: 'true',
      OPENCODE_DISABLE_MODELS_FETCH: 'true',
    },
  }
}
