import { readlinkSync } from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'

/** As many links as Linux follows: a circle ends where it is. */
const MOST_LINKS = 40

/**
 * An absolute path as Python's `Path.resolve()` gives it: every link followed, also one that leads nowhere; what does
 * not exist stays as it is. Never throws.
 */
export const resolveAsPython = (path: string): string => {
  const left = partsOf(path)
  let done = '/'
  let links = 0
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    const next = part === '..' ? dirname(done) : join(done, part)
    const target = links < MOST_LINKS ? linkTarget(next) : undefined
    if (target === undefined) {
      done = next
      continue
    }
    links++
    left.unshift(...partsOf(target))
    if (isAbsolute(target)) done = '/'
  }
  return done
}

const partsOf = (path: string): string[] => path.split('/').filter((part) => part !== '' && part !== '.')

const linkTarget = (path: string): string | undefined => {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
