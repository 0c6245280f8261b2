import type { Log } from '../contract/tool.ts'

export interface FanOut<T> {
  /** Returns the unsubscribe. */
  add(listener: (value: T) => void): () => void
  /** Calls every listener, in the order they were added; one that throws is logged and stops no other. */
  emit(value: T): void
}

export const createFanOut = <T>(log: Log): FanOut<T> => {
  const listeners = new Set<{ readonly call: (value: T) => void }>()
  return {
    add: (listener) => {
      const entry = { call: listener }
      listeners.add(entry)
      return () => void listeners.delete(entry)
    },
    emit: (value) => {
      for (const { call } of listeners) guarded(log, () => call(value))
    },
  }
}

/** Runs a listener. What it throws is logged by name and place: a message could quote what the listener was given. */
export const guarded = (log: Log, run: () => void): void => {
  try {
    run()
  } catch (error) {
    const { name, stack } = error instanceof Error ? error : new Error()
    const at = stack?.split('\n').find((line) => /^\s+at /.test(line))
    log('error', 'transport.listener_failed', { error: name, at: at?.trim() })
  }
}
