import { firstCharacters } from './reading.ts'

/** One thing that happened in a job, as peek shows it: never the raw output of a tool. */
export type JobEvent =
  | { readonly kind: 'message'; readonly ts: string; readonly text: string }
  | {
      readonly kind: 'tool_call'
      readonly ts: string
      readonly tool: string
      readonly phase: 'started' | 'completed' | 'failed'
      readonly summary: string
      readonly id?: string
      readonly status?: string
      readonly exit_code?: number
      readonly duration_ms?: number
    }

const SUMMARY_MAX = 200

/** The first line of what a tool was asked to do. */
export const summaryOf = (text: string): string => {
  const line = text.trim().split('\n')[0] ?? ''
  return line.length > SUMMARY_MAX ? `${firstCharacters(line, SUMMARY_MAX)}…` : line
}
