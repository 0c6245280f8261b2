import {
  codexBinary,
  createCodexHome,
  tempDir,
  type ModelRequest,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { execa } from 'execa'
import { mainPath } from './run-bridge.ts'

/** A call of one of the bridge's tools, as the scripted model makes it. */
export const toolCall = (name: string, args: object, server = 'bridge') => ({
  toolCall: { name, namespace: `mcp__${server}`, arguments: args },
})

/** The JSON that the tool's latest answer carries, whatever the agent puts around it. */
export const latestAnswer = (request: ModelRequest): unknown => {
  const output = request.toolOutputs.at(-1)?.output
  const text = typeof output === 'string' ? output : JSON.stringify(output)
  const found = /\{.*\}/s.exec(text)
  return found === null ? {} : JSON.parse(found[0])
}

export interface AgentOptions {
  readonly world: World
  readonly task: string
  readonly sandbox?: 'read-only' | 'workspace-write' | 'danger-full-access'
  /** Further arguments of the bridge. */
  readonly bridge?: readonly string[]
  /** The name that the bridge is registered under; bridge unless given. */
  readonly server?: string
}

/** Runs `codex exec` with the bridge among its MCP servers to its end, in a home of its own; its stdout. */
export const runAgent = async (options: AgentOptions): Promise<string> => {
  const { world, task, sandbox = 'read-only', bridge = [], server = 'bridge' } = options
  const state = tempDir('state')
  const args = [mainPath, '--socket', world.socketPath, '--state-dir', state.path, ...bridge]
  const home = createCodexHome({
    modelUrl: world.model.url,
    config: `
[mcp_servers.${server}]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify(args)}
default_tools_approval_mode = "approve"
required = true
`,
  })
  try {
    const { stdout } = await execa(
      codexBinary(world.version),
      ['exec', '--json', '--skip-git-repo-check', '--sandbox', sandbox, task],
      {
        cwd: world.cwd,
        env: { PATH: process.env.PATH ?? '', HOME: home.path, CODEX_HOME: home.path },
        extendEnv: false,
        stdin: 'ignore',
        timeout: 50_000,
      },
    )
    return stdout
  } finally {
    await home.remove()
    await state.remove()
  }
}
