/** Two ways to do the same: each does it once and resolves to what it measured. */
export interface Variants {
  ours(): Promise<number>
  baseline(): Promise<number>
}

export interface Rounds {
  /** Before the counted ones; their measurements are thrown away. */
  readonly warmUp: number
  readonly rounds: number
}

export interface Samples {
  readonly ours: readonly number[]
  readonly baseline: readonly number[]
}

/** Ours, baseline, ours, baseline, …: whatever else the machine does meets both alike. */
export const interleave = async (variants: Variants, { warmUp, rounds }: Rounds): Promise<Samples> => {
  const ours: number[] = []
  const baseline: number[] = []
  for (let round = 0; round < warmUp + rounds; round += 1) {
    ours.push(await variants.ours())
    baseline.push(await variants.baseline())
  }
  return { ours: ours.slice(warmUp), baseline: baseline.slice(warmUp) }
}

/** How long an act takes, in milliseconds. */
export const timed = async (act: () => unknown): Promise<number> => {
  const begin = performance.now()
  await act()
  return performance.now() - begin
}
