import { connect } from 'node:net'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AppServerProcess,
  at,
  type CodexHome,
  createCodexHome,
  NEWEST_CODEX,
  OLDEST_CODEX,
  openRawClient,
  startAppServer,
  testedVersions,
} from '../src/index.ts'

let home: CodexHome
const started: AppServerProcess[] = []

beforeEach(() => {
  home = createCodexHome({ modelUrl: 'http://127.0.0.1:9/v1' })
})
afterEach(async () => {
  for (const server of started.splice(0)) {
    await server.kill()
    await server.stop()
  }
  await home.remove()
})

async function start(version: string, socketPath?: string): Promise<AppServerProcess> {
  const server = await startAppServer({ version, home, ...(socketPath !== undefined && { socketPath }) })
  started.push(server)
  return server
}

function connectCode(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code))
  })
}

describe.each(testedVersions)('App Server %s', (version) => {
  it('listens where an App Server of that home listens by default', async () => {
    const server = await start(version)
    expect(server.socketPath).toBe(join(home.path, 'app-server-control', 'app-server-control.sock'))
    const client = await openRawClient(server.socketPath)
    expect(await client.call('thread/loaded/list')).toMatchObject({ data: [] })
    await client.close()
  })

  it('is named by its pid, so that a signal reaches the server itself', async () => {
    const server = await start(version)
    process.kill(server.pid, 'SIGKILL')
    await expect.poll(() => server.running).toBe(false)
  })

  it('leaves its socket behind when it is killed, and refuses connections', async () => {
    const server = await start(version)
    await server.kill()
    expect(server.running).toBe(false)
    expect(await connectCode(server.socketPath)).toBe('ECONNREFUSED')
  })

  it('starts again on the same home and socket after it was killed', async () => {
    const server = await start(version)
    const firstPid = server.pid
    await server.kill()
    await server.restart()
    expect(server.pid).not.toBe(firstPid)
    const client = await openRawClient(server.socketPath)
    expect(at(await client.call('thread/list'), 'data')).toEqual([])
    await client.close()
  })

  it('leaves no socket behind when it is stopped', async () => {
    const server = await start(version)
    await server.stop()
    expect(existsSync(server.socketPath)).toBe(false)
    expect(await connectCode(server.socketPath)).toBe('ENOENT')
  })

  it('answers a frozen call only after the thaw', async () => {
    const server = await start(version)
    const client = await openRawClient(server.socketPath)
    await server.freeze()
    let answered = false
    const call = client.call('thread/loaded/list').then(() => {
      answered = true
    })
    expect(await connectCode(server.socketPath)).toBeUndefined()
    expect(answered).toBe(false)
    server.thaw()
    await call
    await client.close()
  })

  it('says why it did not start: another one has the socket', async () => {
    await start(version)
    await expect(startAppServer({ version, home })).rejects.toThrow('is already in use')
    expect(started[0]?.running).toBe(true)
  })
})

describe('a socket path of more than 107 bytes', () => {
  const longName = `${'long-'.repeat(20)}.sock`

  it(`cannot be listened on by ${OLDEST_CODEX}`, async () => {
    await expect(start(OLDEST_CODEX, join(home.path, longName))).rejects.toThrow('SUN_LEN')
  })

  it(`is reached on ${NEWEST_CODEX} through the symlink that the server leaves`, async () => {
    const server = await start(NEWEST_CODEX, join(home.path, longName))
    const client = await openRawClient(server.socketPath)
    expect(await client.call('thread/loaded/list')).toMatchObject({ data: [] })
    await client.close()
  })
})
