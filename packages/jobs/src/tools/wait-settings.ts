import type { Environment } from '../clis/locate.ts'

/** In seconds. */
export interface WaitSettings {
  readonly standard: number
  readonly longest: number
  /** What one call observes at most. */
  readonly window: number
}

const LONGEST_WINDOW = 110

const secondsOf = (text: string | undefined, standard: number): number => {
  const value = Number(text)
  return text !== undefined && text.trim() !== '' && Number.isFinite(value) && value > 0 ? value : standard
}

/** The three variables of the reference server, with defaults that suit clients that give up after 60 s. */
export const waitSettings = (env: Environment): WaitSettings => {
  const longest = secondsOf(env.AGENT_BRIDGE_MAX_WAIT_TIMEOUT_SEC, 3_600)
  return {
    longest,
    standard: Math.min(longest, secondsOf(env.AGENT_BRIDGE_WAIT_TIMEOUT_SEC, 900)),
    window: Math.min(LONGEST_WINDOW, secondsOf(env.AGENT_BRIDGE_WAIT_CALL_WINDOW_SEC, 45)),
  }
}
