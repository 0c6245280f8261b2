/** One variant's samples, summed up; in the unit of its row. */
export interface Summary {
  readonly median: number
  readonly p95: number
  readonly samples: number
}

/** What our median may be at most, given the baseline's (0 where there is none). */
export interface Goal {
  readonly text: string
  limit(baseline: number): number
}

/** One line of the report. Without a goal it is only reported. */
export interface Row {
  readonly what: string
  readonly unit: Unit
  readonly ours: Summary
  readonly baseline?: Summary
  /** Our median divided by the baseline's. */
  readonly ratio?: number
  readonly goal?: string
  /** The goal as a number, with this run's baseline in it. */
  readonly limit?: number
  readonly met?: boolean
}

export type Unit = 'ms' | 'MB' | 'bytes' | 'calls'

export interface Measured {
  readonly what: string
  readonly unit: Unit
  readonly ours: readonly number[]
  readonly baseline?: readonly number[]
  readonly goal?: Goal
}

/** `atMost(1.5, 1)`: at most 1.5 times the baseline and 1 ms. */
export const atMost = (factor: number, ms = 0): Goal => ({
  text: ms === 0 ? `≤ ${String(factor)}×` : `≤ ${String(factor)}× + ${String(ms)} ms`,
  limit: (baseline) => factor * baseline + ms,
})

/** At most so many of the row's unit, whatever else takes. */
export const within = (most: number, unit: Unit = 'ms'): Goal => ({
  text: `≤ ${String(most)} ${unit}`,
  limit: () => most,
})

export const rowOf = ({ what, unit, ours, baseline, goal }: Measured): Row => {
  const own = summaryOf(ours)
  const other = baseline && summaryOf(baseline)
  const limit = goal?.limit(other?.median ?? 0)
  return {
    what,
    unit,
    ours: own,
    ...(other && { baseline: other, ratio: own.median / other.median }),
    ...(goal && limit !== undefined && { goal: goal.text, limit, met: own.median <= limit }),
  }
}

const summaryOf = (samples: readonly number[]): Summary => {
  const sorted = samples.toSorted((a, b) => a - b)
  return { median: quantile(sorted, 0.5), p95: quantile(sorted, 0.95), samples: sorted.length }
}

/** Between the two nearest samples, in proportion. */
const quantile = (sorted: readonly number[], q: number): number => {
  const place = (sorted.length - 1) * q
  const below = sorted[Math.floor(place)] ?? NaN
  const above = sorted[Math.ceil(place)] ?? NaN
  return below + (above - below) * (place % 1)
}
