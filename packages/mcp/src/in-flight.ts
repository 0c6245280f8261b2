import { setImmediate } from 'node:timers/promises'

/** The calls that a client waits for. */
export class InFlight {
  readonly #calls = new Set<Promise<unknown>>()

  /** Keeps a call until it has settled; returns it. */
  track<T>(call: Promise<T>): Promise<T> {
    const forget = (): void => void this.#calls.delete(call)
    this.#calls.add(call)
    call.then(forget, forget)
    return call
  }

  /** Resolves when every call has settled and its answer was written, after `ms`, or when aborted. */
  async settled(ms: number, signal?: AbortSignal): Promise<void> {
    const patience = new AbortController()
    const timer = setTimeout(() => patience.abort(), ms)
    const enough = signal === undefined ? patience.signal : AbortSignal.any([patience.signal, signal])
    const gaveUp = new Promise<void>((resolve) => {
      if (enough.aborted) resolve()
      enough.addEventListener('abort', () => resolve(), { once: true })
    })
    await Promise.race([gaveUp, Promise.allSettled([...this.#calls])])
    clearTimeout(timer)
    // The SDK writes an answer some microtasks after its call has settled.
    await setImmediate()
  }
}
