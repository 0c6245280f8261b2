import { TransportError, type AppServer, type Connection } from '@codex-thread-bridge/core/contract'

const refused = async (): Promise<never> => {
  throw new TransportError('socket_absent', 'There is no App Server in this test.', 'not_sent')
}

const connection: Connection = {
  call: refused,
  connect: refused,
  server: undefined,
  onNotification: () => () => undefined,
  onDisconnect: () => () => undefined,
}

/** An App Server for tools that never call it. */
export const stubAppServer = (): AppServer => ({
  reads: connection,
  actions: connection,
  socket: { configured: '/nowhere/app-server.sock', resolved: '/nowhere/app-server.sock' },
  missingMethods: refused,
  close: async () => undefined,
})
