import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Repository, userEnvironment } from '@codex-thread-bridge/test-fixtures'
import { BridgeError } from '../../src/contract/errors.ts'
import {
  addWorktree,
  checkDestination,
  checkOut,
  createGit,
  type Git,
  localCommit,
  reserveDestination,
  type SourceCheckout,
  sourceCheckout,
} from '../../src/git/index.ts'

/** Our Git as the user of a test repository. */
export const gitOf = ({ home }: Pick<Repository, 'home'>): Git =>
  createGit({ timeoutMs: 60_000, env: userEnvironment(home) })

/** A test repository as the source of a worktree. */
export const sourceOf = ({ root }: Pick<Repository, 'root'>) => ({
  root,
  commonDirectory: join(root, '.git'),
})

/** What a launch does with Git, one after the other; resolves to the source. */
export const launch = async (
  git: Git,
  root: string,
  revision: string,
  destination: string,
): Promise<SourceCheckout> => {
  const source = await sourceCheckout(git, root)
  await localCommit(git, source, revision)
  await checkDestination(destination)
  const reservation = await reserveDestination(destination)
  await addWorktree(git, { source, destination: reservation, revision, reason: 'a test' })
  await checkOut(git, { source, destination: reservation, revision })
  return source
}

/**
 * A program named git, alone in a directory for a PATH.
 * @returns that directory
 */
export const standInGit = async (directory: string, body: string): Promise<string> => {
  const folder = join(directory, 'stand-in')
  await mkdir(folder)
  await writeFile(join(folder, 'git'), `#!/bin/sh\n${body}\n`)
  await chmod(join(folder, 'git'), 0o755)
  return folder
}

/** Answers what is asked before each command; `rest` is for the command itself. */
export const answering = (rest: string): string => `
case "$*" in
  *version*) echo 'git version 2.99.0'; exit 0 ;;
  *'config --list'*) exit 0 ;;
esac
${rest}`

/** The code and message of what a promise rejects with. */
export const refusal = async (promise: Promise<unknown>): Promise<{ code: unknown; message: string }> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof Error)) throw new Error('it did not reject')
  return { code: 'code' in error ? error.code : undefined, message: error.message }
}

/** The whole error that a promise rejects with. */
export const failure = async (promise: Promise<unknown>): Promise<BridgeError> => {
  const error: unknown = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error instanceof BridgeError) return error
  throw new Error('it did not reject with a BridgeError', { cause: error })
}

const NOBODY = 65_534

/** Acts without the superuser's rights, where the tests run with them. */
export const asNobody = async <T>(act: () => Promise<T>): Promise<T> => {
  if (process.geteuid?.() !== 0) return act()
  process.seteuid?.(NOBODY)
  try {
    return await act()
  } finally {
    process.seteuid?.(0)
  }
}
