import { lstatSync, readlinkSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import {
  startWorld,
  tempDir,
  testedVersions,
  type TempDir,
  type World,
} from '@codex-thread-bridge/test-fixtures'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshId, startBridge } from './bridge.ts'

describe.each(testedVersions)('one App Server %s under several paths', (version) => {
  let world: World
  let folder: TempDir
  beforeAll(async () => {
    world = await startWorld({ version })
    folder = tempDir('paths')
  })
  afterAll(async () => {
    await world?.close()
    await folder?.remove()
  })

  /** The socket's configured path, where Codex itself has put it, and links of a person to both. */
  const pathsOf = (socket: string): readonly string[] => {
    const real = lstatSync(socket).isSymbolicLink() ? readlinkSync(socket) : socket
    const [alias, past] = [join(folder.path, 'alias.sock'), join(folder.path, 'past.sock')]
    symlinkSync(socket, alias)
    symlinkSync(real, past)
    return [real, past, alias, socket]
  }

  it('has one ledger: a request acts once, whichever of them is given', async () => {
    const args = { request_id: freshId('paths'), cwd: world.cwd, prompt: 'once' }
    const stateDir = join(folder.path, 'state')
    const answers = []
    for (const socketPath of pathsOf(world.appServer.socketPath)) {
      const bridge = await startBridge({ socketPath, stateDir })
      answers.push(await bridge.call('create_thread', args))
      await bridge.close()
    }
    const threadId = answers[0]?.threadId ?? ''
    expect(answers.map((answer) => [answer.status, answer.threadId, answer.replayed])).toEqual([
      ['accepted', threadId, false],
      ['accepted', threadId, true],
      ['accepted', threadId, true],
      ['accepted', threadId, true],
    ])
    const client = await world.openClient()
    expect(await client.transcript(threadId)).toEqual(expect.arrayContaining(['once']))
    expect(await client.call('thread/list', {})).toMatchObject({ data: [{ id: threadId }] })
  })
})
