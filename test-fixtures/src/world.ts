import { join } from 'node:path'
import { type AppServerProcess, startAppServer } from './app-server.ts'
import type { CodexVersion } from './codex-binary.ts'
import { type CodexHome, createCodexHome } from './codex-home.ts'
import { type ScriptedModel, startScriptedModel } from './model/scripted-model.ts'
import { type FaultProxy, startFaultProxy } from './proxy/fault-proxy.ts'
import { openRawClient, type RawClient } from './raw-client.ts'
import { tempDir } from './temp-dir.ts'

export interface WorldOptions {
  readonly version: CodexVersion
  /** More TOML for config.toml. */
  readonly config?: string
}

export interface World {
  readonly version: CodexVersion
  readonly model: ScriptedModel
  readonly home: CodexHome
  /** Its own socketPath leads around the proxy. */
  readonly appServer: AppServerProcess
  readonly proxy: FaultProxy
  /** The proxy's: where the bridge under test connects. */
  readonly socketPath: string
  /** An empty working directory, in no Git checkout. */
  readonly cwd: string
  /** Another client, directly at the App Server; closed with the world. */
  openClient(): Promise<RawClient>
  /** Ends and removes everything, whatever has failed or ended before. */
  close(): Promise<void>
}

type TearDown = () => Promise<void>

/** Scripted model, Codex home, App Server, fault proxy and working directory: what most tests need. */
export async function startWorld(options: WorldOptions): Promise<World> {
  const tearDowns: TearDown[] = []
  const close = () => tearDownAll(tearDowns)
  try {
    return { ...(await build(options, tearDowns)), close }
  } catch (error) {
    await close()
    throw error
  }
}

async function build(
  { version, config }: WorldOptions,
  tearDowns: TearDown[],
): Promise<Omit<World, 'close'>> {
  function closing<T extends { close(): Promise<void> }>(part: T): T {
    tearDowns.push(() => part.close())
    return part
  }
  const work = tempDir('wd')
  tearDowns.push(() => work.remove())
  const model = closing(await startScriptedModel())
  const home = createCodexHome({ modelUrl: model.url, ...(config !== undefined && { config }) })
  tearDowns.push(() => home.remove())
  const appServer = await startAppServer({ version, home })
  // Killed first: what it wrote is about to be removed, so nothing is worth a drain.
  tearDowns.push(async () => {
    await appServer.kill()
    await appServer.stop()
  })
  const proxy = closing(
    await startFaultProxy({ listen: join(home.path, 'proxy.sock'), target: appServer.socketPath }),
  )
  return {
    version,
    model,
    home,
    appServer,
    proxy,
    socketPath: proxy.socketPath,
    cwd: work.path,
    openClient: async () => closing(await openRawClient(appServer.socketPath)),
  }
}

async function tearDownAll(tearDowns: TearDown[]): Promise<void> {
  const errors: unknown[] = []
  for (const tearDown of tearDowns.splice(0).reverse()) {
    await tearDown().catch((error: unknown) => errors.push(error))
  }
  if (errors.length > 0) throw new AggregateError(errors, 'the world was not closed entirely')
}
