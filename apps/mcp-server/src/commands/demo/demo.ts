import { ExpectationFailed, narrator } from './narrator.ts'
import { setStage, type Fixtures } from './stage.ts'
import { playStory } from './story.ts'

const isMissing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ERR_MODULE_NOT_FOUND'

/** The fixtures are in the checkout only, not in the published package. */
const loadFixtures = async (): Promise<Fixtures | undefined> => {
  try {
    return await import('@codex-thread-bridge/test-fixtures')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

const playOnce = async (fixtures: Fixtures): Promise<void> => {
  const stage = await setStage(fixtures)
  try {
    await playStory(fixtures, stage, narrator(console.log))
  } finally {
    await stage.close()
  }
}

/** Plays the story with a real App Server and a scripted model. Exit code 1 names what did not hold. */
export const demo = async (): Promise<number> => {
  const fixtures = await loadFixtures()
  if (fixtures === undefined) {
    console.error('The demo needs a checkout of the project: npm ci && npm run demo')
    return 1
  }
  const begun = performance.now()
  console.log(
    `Codex App Server ${fixtures.NEWEST_CODEX}, a scripted model and a fault proxy, in a temporary home.`,
  )
  try {
    await playOnce(fixtures)
  } catch (error) {
    const broken = error instanceof ExpectationFailed ? 'This did not hold' : 'The demo broke'
    console.error(`\n${broken}: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
  console.log(`\nEverything held, in ${seconds} s; nothing is left behind.`)
  return 0
}
