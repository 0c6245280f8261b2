import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'

/** An HTTP server on a loopback port of its own. */
export interface Loopback {
  readonly url: string
  /** Breaks what is still open. */
  close(): Promise<void>
}

/** Answers each request with its parsed JSON body; a body that is no JSON comes as undefined. */
export function startLoopback(
  answer: (incoming: IncomingMessage, body: unknown, response: ServerResponse) => Promise<void>,
): Promise<Loopback> {
  const server = createServer((incoming, response) => {
    readBody(incoming)
      .then((body) => answer(incoming, body, response))
      .catch(() => response.destroy())
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      if (typeof address !== 'object' || address === null) return
      resolve({
        url: `http://127.0.0.1:${String(address.port)}`,
        close: () =>
          new Promise((closed) => {
            server.close(() => closed())
            server.closeAllConnections()
          }),
      })
    })
  })
}

async function readBody(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk as Uint8Array))
  try {
    return JSON.parse(Buffer.concat(chunks).toString())
  } catch {
    return undefined
  }
}
