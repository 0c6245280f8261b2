import { poll, type FaultRule } from '@codex-thread-bridge/test-fixtures'
import type { Stage } from './stage.ts'
import type { Fault } from './steps.ts'

/** Longer than any call of a step takes. */
const STEP_MS = 120_000

/** Makes the calls with a fault in their midst; one whose moment does not come is no fault. */
export const faulty = async <T>(
  stage: Stage,
  fault: Fault | undefined,
  calls: () => Promise<T>,
): Promise<T> => {
  if (fault === undefined) return calls()
  const { rule, strike } = arm(stage, fault)
  let over = false
  const done = calls().finally(() => (over = true))
  // Whoever fails, nothing of the fault may last.
  const struck = poll(() => rule.fired.length > 0 || over, { timeoutMs: STEP_MS }).then(() =>
    rule.fired.length > 0 ? strike() : undefined,
  )
  try {
    const result = await done
    await struck
    return result
  } finally {
    await struck.catch(() => undefined)
    rule.remove()
    await after(stage, fault)
  }
}

const after = async (stage: Stage, fault: Fault): Promise<void> => {
  if (fault.fault === 'kill server' && fault.restart === 'after the calls') await stage.serverUp()
}

interface Armed {
  readonly rule: FaultRule
  /** At the moment. */
  readonly strike: () => Promise<void>
}

const arm = (stage: Stage, fault: Fault): Armed => {
  const { proxy } = stage.world
  const nothing = async (): Promise<void> => undefined
  switch (fault.fault) {
    case 'cut':
      return { rule: proxy.on(fault.at, { cut: fault.side }), strike: nothing }
    case 'refuse':
      return {
        rule: proxy.on(fault.at, { respond: { error: { code: -32600, message: 'refused by the proxy' } } }),
        strike: nothing,
      }
    case 'late answer':
      return { rule: proxy.on({ method: fault.method, kind: 'response' }, 'withhold'), strike: nothing }
    case 'kill process': {
      const rule = proxy.on(fault.at, 'delay')
      return {
        rule,
        strike: async () => {
          await stage.endBridge('process')
          rule.remove()
        },
      }
    }
    case 'kill server': {
      const rule = proxy.on(fault.at, 'delay')
      return {
        rule,
        strike: async () => {
          if (fault.passes) rule.remove()
          await stage.killServer()
          if (!fault.passes) proxy.cut()
          rule.remove()
          if (fault.restart === 'at once') await stage.serverUp()
        },
      }
    }
  }
}
