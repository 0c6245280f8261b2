import { createRepository, startWorld, type CodexVersion } from '@codex-thread-bridge/test-fixtures'
import type { Stage } from './scene.ts'
import { openTruth } from './truth.ts'

/**
 * A world with some threads of another client that drift: a `sandbox` that no tested App Server restores, and a default
 * that is wider.
 */
export const openStage = async (version: CodexVersion, drifting: number): Promise<Stage> => {
  const world = await startWorld({ version, config: 'sandbox_mode = "danger-full-access"' })
  const client = await world.openClient()
  const drifted: string[] = []
  for (let made = 0; made < drifting; made += 1) {
    const threadId = await client.startThread({ cwd: world.cwd, sandbox: 'workspace-write' })
    await client.runTurn(threadId, 'by another client')
    drifted.push(threadId)
  }
  await world.appServer.kill()
  await world.appServer.restart()
  return { world, truth: await openTruth(world), drifted, repository: await createRepository() }
}
