import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createCodexHome, startAppServer, startScriptedModel } from '@codex-thread-bridge/test-fixtures'
import { describe, expect, onTestFinished, test } from 'vitest'
import { describeSocket, findSocketPath } from '../../src/transport/index.ts'
import { socketAddress } from '../../src/transport/socket-path.ts'
import { client, rejection, socketIn } from './support.ts'

const all = { CODEX_THREAD_BRIDGE_SOCKET: '/env.sock', CODEX_HOME: '/codex' }

describe('the socket path', () => {
  test.each([
    ['the configured one first', { configured: '/own.sock', env: all }, '/own.sock'],
    ['then the environment’s', { env: all }, '/env.sock'],
    [
      'then the one below CODEX_HOME',
      { env: { CODEX_HOME: '/codex' } },
      '/codex/app-server-control/app-server-control.sock',
    ],
    ['then the one below ~/.codex', { env: {} }, '/me/.codex/app-server-control/app-server-control.sock'],
    [
      'where an empty value counts as none',
      { configured: '', env: { CODEX_THREAD_BRIDGE_SOCKET: '', CODEX_HOME: '' } },
      '/me/.codex/app-server-control/app-server-control.sock',
    ],
    ['made absolute', { configured: 'a/../b.sock', env: {} }, join(process.cwd(), 'b.sock')],
  ])('is %s', (_, options, path) => {
    expect(findSocketPath({ ...options, homedir: '/me' })).toBe(path)
  })

  test('is described as configured and with every link followed', () => {
    const target = socketIn('real.sock')
    const link = socketIn('link.sock')
    writeFileSync(target, '')
    symlinkSync(target, link)
    expect(describeSocket(link)).toEqual({ configured: link, resolved: realpathSync(target) })
  })

  test('is described even if nothing is there yet', () => {
    const path = socketIn()
    expect(describeSocket(path)).toEqual({ configured: path, resolved: path })
  })
})

describe('the length of a socket path', () => {
  const long = `/${'x'.repeat(107)}`

  test.runIf(process.platform === 'linux')('may be 107 bytes', () => {
    const path = `/${'x'.repeat(106)}`
    expect(socketAddress({ configured: path, resolved: '/short' })).toBe(path)
    expect(socketAddress({ configured: long, resolved: '/short' })).toBe('/short')
    expect(socketAddress({ configured: long, resolved: long })).toBeUndefined()
  })

  test('is counted in bytes, not in characters', () => {
    expect(socketAddress({ configured: `/${'ü'.repeat(60)}`, resolved: '/short' })).toBe('/short')
  })

  test('is an error that names both paths when the resolved one is too long as well', async () => {
    const configured = join(dirname(socketIn()), 'x'.repeat(80), 'y'.repeat(60))
    const resolved = join(dirname(configured), 'z'.repeat(61))
    mkdirSync(dirname(configured), { recursive: true })
    writeFileSync(resolved, '')
    symlinkSync(resolved, configured)
    expect(await rejection(client(configured).reads.connect())).toMatchObject({
      code: 'socket_path_too_long',
      delivery: 'not_sent',
      message:
        `A Unix socket address holds 107 bytes; ${configured} has ${configured.length}, ` +
        `and where it leads, ${resolved} has ${resolved.length}.`,
    })
  })

  test('does not matter where the App Server leaves a link to a shorter one', async () => {
    const model = await startScriptedModel()
    const home = createCodexHome({ modelUrl: model.url })
    const socketPath = join(home.path, 'p'.repeat(60), `${'q'.repeat(60)}.sock`)
    mkdirSync(dirname(socketPath))
    const server = await startAppServer({ version: '0.171.0', home, socketPath })
    onTestFinished(async () => {
      await server.stop()
      await home.remove()
      await model.close()
    })
    const appServer = client(socketPath)
    expect(await appServer.reads.connect()).toMatchObject({ version: '0.171.0', codexHome: home.path })
    expect(appServer.socket).toEqual({ configured: socketPath, resolved: realpathSync(socketPath) })
  })
})
