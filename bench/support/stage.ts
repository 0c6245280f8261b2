import { NEWEST_CODEX, startWorld, tempDir, textAt, type World } from '@codex-thread-bridge/test-fixtures'
import { heard, openRawConnection, type RawConnection } from './raw-connection.ts'

/** A real App Server with its scripted model, a bare connection to it, and a place for our ledger. */
export interface Stage {
  readonly world: World
  readonly socketPath: string
  readonly raw: RawConnection
  readonly stateDir: string
}

/** Runs an act on a stage of its own, and removes the stage. */
export const onStage = async <T>(act: (stage: Stage) => Promise<T>): Promise<T> => {
  const state = tempDir('state')
  const world = await startWorld({ version: NEWEST_CODEX })
  try {
    // Past the world's proxy: nothing may stand in between.
    const { socketPath } = world.appServer
    const raw = await openRawConnection(socketPath)
    const result = await act({ world, socketPath, raw, stateDir: state.path })
    await raw.close()
    return result
  } finally {
    await world.close()
    await state.remove()
  }
}

/** A new read-only thread, to which the connection is subscribed then; its id. */
export const startThread = async (raw: RawConnection, cwd: string): Promise<string> =>
  textAt(await raw.call('thread/start', { cwd, sandbox: 'read-only', approvalPolicy: 'never' }), 'thread.id')

/** Starts a turn; its id. */
export const startTurn = async (raw: RawConnection, threadId: string, text: string): Promise<string> =>
  textAt(await raw.call('turn/start', { threadId, input: [{ type: 'text', text }] }), 'turn.id')

/** One turn from start to end, on a thread that the connection is subscribed to. */
export const runTurn = async (raw: RawConnection, threadId: string, text: string): Promise<void> => {
  const completed = heard(
    raw,
    (method, params) => method === 'turn/completed' && textAt(params, 'threadId') === threadId,
  )
  await startTurn(raw, threadId, text)
  await completed
}
