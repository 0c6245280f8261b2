import { execa } from 'execa'
import { codexBinary, type CodexVersion } from './codex-binary.ts'
import { tempDir } from './temp-dir.ts'

const generated = new Map<CodexVersion, Promise<string>>()

/**
 * A folder with the JSON Schema of the App Server's protocol, experimental part included, as that version's binary
 * generates it (codex_app_server_protocol.schemas.json holds all of it). Once per process; removed at its exit.
 */
export function protocolSchema(version: CodexVersion): Promise<string> {
  const folder = generated.get(version) ?? generate(version)
  generated.set(version, folder)
  return folder
}

async function generate(version: CodexVersion): Promise<string> {
  const { path } = tempDir('schema')
  await execa(codexBinary(version), ['app-server', 'generate-json-schema', '--experimental', '--out', path], {
    extendEnv: false,
    env: { PATH: process.env.PATH ?? '', HOME: path, CODEX_HOME: path },
  })
  return path
}
