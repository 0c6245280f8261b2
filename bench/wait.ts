import { at, holdReply, type HeldReply } from '@codex-thread-bridge/test-fixtures'
import { ourServer, startMcpProcess, type McpProcess } from './support/mcp-process.ts'
import { heard } from './support/raw-connection.ts'
import { rowOf, within, type Row } from './support/row.ts'
import { onStage, startThread, startTurn } from './support/stage.ts'

const WARM_UP = 5
const ROUNDS = 60

/** From the end of a turn, as a subscriber hears it, to the answer of the wait_thread that waits for it. */
export const wait = (): Promise<readonly Row[]> =>
  onStage(async ({ world, socketPath, raw, stateDir }) => {
    const server = await startMcpProcess(ourServer(socketPath, stateDir))
    const threadId = await startThread(raw, world.cwd)
    let reply: HeldReply = holdReply()
    world.model.always(() => reply)

    const ours: number[] = []
    for (let round = 0; round < WARM_UP + ROUNDS; round += 1) {
      reply = holdReply()
      const turnId = await startTurn(raw, threadId, 'Count the files.')
      await reply.waitHeld()
      const completed = heard(raw, (method) => method === 'turn/completed').then(() => performance.now())
      const looked = server.progress(turnId)
      const answered = waitFor(server, threadId, turnId)
      await looked
      reply.release()
      ours.push((await answered) - (await completed))
    }
    await server.close()
    return [
      rowOf({
        what: 'turn/completed → answer of wait_thread',
        unit: 'ms',
        ours: ours.slice(WARM_UP),
        goal: within(25),
      }),
    ]
  })

/** When the answer came. Its progress, named after the turn, tells that it waits. */
const waitFor = async (server: McpProcess, threadId: string, turnId: string): Promise<number> => {
  const args = { thread_id: threadId, turn_id: turnId }
  const answer = await server.callTool('wait_thread', args, { progressToken: turnId })
  if (at(answer, 'turn.status') !== 'completed') throw new Error('wait_thread did not see the end')
  return performance.now()
}
