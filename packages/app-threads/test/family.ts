import { join } from 'node:path'
import { createAppThreadsPlugin, type AppThreadsOptions } from '@codex-thread-bridge/app-threads'
import { createGit } from '@codex-thread-bridge/core/git'
import { createHost, type Host } from '@codex-thread-bridge/core/host'
import { openLedger } from '@codex-thread-bridge/core/ledger'
import { openCeiling, type Ceiling } from '@codex-thread-bridge/core/policy'
import { createAppServer } from '@codex-thread-bridge/core/transport'
import {
  at,
  type RawClient,
  startWorld,
  tempDir,
  textAt,
  type World,
} from '@codex-thread-bridge/test-fixtures'

export interface FamilyOptions extends Partial<Omit<AppThreadsOptions, 'operations'>> {
  /** A state directory that a later host shares; its own unless given. */
  readonly stateDir?: string
  readonly ceiling?: Partial<Ceiling>
  readonly callMs?: number
  readonly resultBytes?: number
}

export interface Family {
  readonly host: Host
  readonly stateDir: string
  /** A tool's answer. */
  call(tool: string, args?: object, options?: Parameters<Host['call']>[2]): Promise<unknown>
  close(): Promise<void>
}

/** The tools of this family as the server composes them, over a real ledger and a real socket. */
export const startFamily = async (socketPath: string, options: FamilyOptions = {}): Promise<Family> => {
  const { stateDir: given, ceiling, callMs, resultBytes, ...own } = options
  const temporary = given === undefined ? tempDir('state') : undefined
  const stateDir = given ?? temporary?.path ?? ''
  const host = createHost({
    appServer: createAppServer({ socketPath, version: '0.0.0', log: () => undefined }),
    ledger: () => openLedger({ stateDir, socketPath }),
    policy: { ceiling: { ...openCeiling, ...ceiling } },
    limits: {
      ...(callMs === undefined ? {} : { callMs }),
      ...(resultBytes === undefined ? {} : { resultBytes }),
    },
  })
  host.register(
    createAppThreadsPlugin({
      operations: host.operations,
      projects: [],
      documentsRoot: join(stateDir, 'documents'),
      worktreesDir: join(stateDir, 'worktrees'),
      git: createGit({ timeoutMs: 30_000 }),
      defaultPermissions: ':read-only',
      provenance: false,
      ...own,
    }),
  )
  await host.ready()
  return {
    host,
    stateDir,
    call: (tool, args = {}, call) => host.call(tool, args, call),
    close: async () => {
      await host.close()
      await temporary?.remove()
    },
  }
}

export interface Stage extends Family {
  readonly world: World
  readonly client: RawClient
  /** A thread in the world's directory with one finished turn a text, oldest first. */
  threadWith(...texts: readonly string[]): Promise<string>
}

/** A world of its own with this family in it. */
export const startStage = async (version: string, options: FamilyOptions = {}): Promise<Stage> => {
  const world = await startWorld({ version })
  try {
    const client = await world.openClient()
    const family = await startFamily(world.socketPath, options)
    return {
      ...family,
      world,
      client,
      threadWith: async (...texts) => {
        // A profile comes back as it was on every version; a sandbox may not.
        const profile = { permissions: ':read-only', sandbox: undefined }
        const threadId = await client.startThread({ cwd: world.cwd, ...profile })
        for (const text of texts) await client.runTurn(threadId, text)
        return threadId
      },
      close: async () => {
        await family.close()
        await world.close()
      },
    }
  } catch (error) {
    await world.close()
    throw error
  }
}

export const threadIdOf = (answer: unknown): string => textAt(answer, 'threadId')

/** What a call was refused with. */
export const refusal = async (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    (answer) => ({ answered: answer }),
    (error: unknown) => ({
      code: at(error, 'code'),
      field: at(error, 'field'),
      message: error instanceof Error ? error.message : '',
    }),
  )
