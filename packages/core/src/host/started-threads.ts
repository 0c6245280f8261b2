import { Compile } from 'typebox/compile'
import { Type } from 'typebox'
import type { AppServer } from '../contract/app-server.ts'

const MARKED = /^ctb\d+:/
const REMEMBERED = 1_000

const started = Compile(
  Type.Object({ thread: Type.Object({ id: Type.String(), threadSource: Type.String() }) }),
)

/** Threads that the App Server said were started with one of our markers: the fastest proof of a lost creation. */
export class StartedThreads {
  readonly #threads = new Map<string, string>()
  readonly #stops: readonly (() => void)[]

  constructor({ reads, actions }: AppServer) {
    this.#stops = [reads, actions].map((connection) =>
      connection.onNotification(({ method, params }) => {
        if (method === 'thread/started' && started.Check(params)) this.#remember(params.thread)
      }),
    )
  }

  find(marker: string): string | undefined {
    return this.#threads.get(marker)
  }

  stop(): void {
    for (const stop of this.#stops) stop()
  }

  #remember({ id, threadSource }: { readonly id: string; readonly threadSource: string }): void {
    if (!MARKED.test(threadSource)) return
    this.#threads.set(threadSource, id)
    const [oldest] = this.#threads.keys()
    if (this.#threads.size > REMEMBERED && oldest !== undefined) this.#threads.delete(oldest)
  }
}
