import { fileURLToPath } from 'node:url'
import type * as fixturesModule from '@codex-thread-bridge/test-fixtures'
import type { McpClientProcess, World } from '@codex-thread-bridge/test-fixtures'

export type Fixtures = typeof fixturesModule

/** The compiled command, as an MCP host starts it. */
const server = fileURLToPath(new URL('../../main.js', import.meta.url))

/** Everything that the story needs: a world with a real App Server, and the bridge as a child process. */
export interface Stage {
  readonly world: World
  /** The bridge's client; another one after restart(). */
  readonly bridge: McpClientProcess
  /** SIGKILL, then a new process on the same state. */
  restart(): Promise<void>
  close(): Promise<void>
}

export const setStage = async (fixtures: Fixtures): Promise<Stage> => {
  const state = fixtures.tempDir('st')
  const world = await fixtures.startWorld({ version: fixtures.NEWEST_CODEX })
  const start = (): Promise<McpClientProcess> =>
    fixtures.startMcpClient({
      command: process.execPath,
      args: [server, '--socket', world.socketPath, '--state-dir', state.path],
    })
  const closeAround = async (): Promise<void> => {
    await world.close()
    await state.remove()
  }
  let bridge = await start().catch(async (error: unknown) => {
    await closeAround()
    throw error
  })
  return {
    world,
    get bridge() {
      return bridge
    },
    async restart() {
      await bridge.kill()
      bridge = await start()
    },
    async close() {
      await bridge.close().finally(closeAround)
    },
  }
}
