/** An expectation of the story that did not hold. */
export class ExpectationFailed extends Error {}

/** Tells the story on stdout. */
export interface Narrator {
  readonly scene: (title: string) => void
  readonly tell: (line: string) => void
  /** @throws ExpectationFailed naming the expectation and what was there instead */
  readonly expect: (expectation: string, held: boolean, found?: unknown) => void
}

export const narrator = (write: (line: string) => void): Narrator => {
  let scenes = 0
  return {
    scene(title) {
      scenes += 1
      write(`\n${String(scenes)}. ${title}`)
    },
    tell: (line) => write(`   ${line}`),
    expect(expectation, held, found) {
      if (!held)
        throw new ExpectationFailed(
          found === undefined ? expectation : `${expectation} (found ${JSON.stringify(found)})`,
        )
      write(`   ok: ${expectation}`)
    },
  }
}
