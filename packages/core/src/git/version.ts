import { BridgeError } from '../contract/errors.ts'

/** `git worktree list -z` came with 2.36; all else that is used here is older. */
export const MINIMUM_GIT = '2.36.0'

const numbersOf = (version: string): readonly number[] => version.split('.').map(Number)

const isAtLeast = (version: string, minimum: string): boolean => {
  const have = numbersOf(version)
  for (const [place, wanted] of numbersOf(minimum).entries()) {
    const number = have[place] ?? 0
    if (number !== wanted) return number > wanted
  }
  return true
}

/**
 * The version in the answer of `git version`.
 * @throws BridgeError git_too_old, also when the answer names no version
 */
export const supportedVersion = (answer: string): string => {
  const version = /^git version (\d+(?:\.\d+)*)/.exec(answer)?.[1]
  if (version !== undefined && isAtLeast(version, MINIMUM_GIT)) return version
  const found = version ?? `an unknown version (${answer.trim().slice(0, 100)})`
  throw new BridgeError('git_too_old', `Git ${MINIMUM_GIT} or newer is needed; found ${found}.`, {
    details: { needed: MINIMUM_GIT, found },
  })
}
