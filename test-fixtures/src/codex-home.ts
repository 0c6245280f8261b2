import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { tempDir } from './temp-dir.ts'

export interface CodexHomeOptions {
  /** ScriptedModel.url */
  readonly modelUrl: string
  /** More TOML: top-level keys first (sandbox_mode = "…"), then tables ([mcp_servers.x]). */
  readonly config?: string
}

export interface CodexHome {
  readonly path: string
  readonly configPath: string
  /** Where an App Server of this home listens by default; its folder exists. */
  readonly socketPath: string
  remove(): Promise<void>
}

/** A temporary CODEX_HOME whose config.toml names the scripted model and needs no account. */
export function createCodexHome(options: CodexHomeOptions): CodexHome {
  const home = tempDir('cx')
  const configPath = join(home.path, 'config.toml')
  writeFileSync(configPath, configToml(options))
  const socketFolder = join(home.path, 'app-server-control')
  mkdirSync(socketFolder, { mode: 0o700 })
  return {
    path: home.path,
    configPath,
    socketPath: join(socketFolder, 'app-server-control.sock'),
    remove: () => home.remove(),
  }
}

function configToml({ modelUrl, config = '' }: CodexHomeOptions): string {
  return `model = "scripted"
model_provider = "scripted"
${config}

[model_providers.scripted]
name = "Scripted"
base_url = ${JSON.stringify(modelUrl)}
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`
}
