import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { type FaultProxy, poll, startFaultProxy, tempDir, type TempDir } from '../src/index.ts'
import { opened, unixWebSocket } from '../src/unix-websocket.ts'

let folder: TempDir
let target: Server
let echo: WebSocketServer
let proxy: FaultProxy
let client: WebSocket

beforeEach(async () => {
  folder = tempDir('bytes')
  target = createServer()
  echo = new WebSocketServer({ server: target, maxPayload: 2 ** 28 })
  echo.on('connection', (socket) => socket.on('message', (data, binary) => socket.send(data, { binary })))
  await new Promise<void>((resolve) => target.listen(join(folder.path, 'target'), resolve))
  proxy = await startFaultProxy({ listen: join(folder.path, 'proxy'), target: join(folder.path, 'target') })
  client = unixWebSocket(proxy.socketPath)
  await opened(client)
})
afterEach(async () => {
  client.terminate()
  await proxy.close()
  target.close()
  await folder.remove()
})

function echoed(data: string | Buffer): Promise<{ data: Buffer; binary: boolean }> {
  return new Promise((resolve) => {
    client.once('message', (answer: Buffer, binary) => resolve({ data: answer, binary }))
    client.send(data)
  })
}

it('passes text on byte for byte, JSON or not', async () => {
  for (const text of ['{ "id" : 1.0,\n "method":"a", "x":"\\u00e9é" }', 'not json', '[]', '']) {
    expect(await echoed(text)).toEqual({ data: Buffer.from(text), binary: false })
  }
})

it('passes binary frames on as binary', async () => {
  expect(await echoed(Buffer.from([0, 255, 254]))).toEqual({ data: Buffer.from([0, 255, 254]), binary: true })
})

it('passes a message of 64 MiB', async () => {
  const text = JSON.stringify({ id: 1, result: 'x'.repeat(64 * 2 ** 20) })
  expect((await echoed(text)).data.equals(Buffer.from(text))).toBe(true)
})

it('offers no compression in either direction', () => {
  expect(client.extensions).toBe('')
  expect([...echo.clients][0]?.extensions).toBe('')
})

it('passes a close on with its code, after what was sent before', async () => {
  const rule = proxy.on({ kind: 'other' }, 'delay')
  const heard: string[] = []
  const [server] = echo.clients
  server?.on('message', (data: Buffer) => heard.push(data.toString()))
  const closed = new Promise((resolve) => server?.once('close', resolve))
  client.send('last words')
  client.close(4001)
  await rule.waitFired()
  expect(server?.readyState).toBe(WebSocket.OPEN)
  rule.release()
  expect(await closed).toBe(4001)
  expect(heard).toEqual(['last words'])
})

it('ends the server side when the client is lost', async () => {
  client.terminate()
  await poll(() => echo.clients.size === 0)
})
