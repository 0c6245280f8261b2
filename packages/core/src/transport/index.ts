export { createAppServer, type AppServerOptions } from './client.ts'
export { describeSocket, findSocketPath, type SocketPathOptions } from './socket-path.ts'
