import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  defaultStateDir,
  endpointIdentity,
  ledgerFileName,
  ledgerPlace,
  otherLedgerPaths,
} from '../../src/ledger/index.ts'
import { directory } from './support.ts'

/** A home with the directory that the App Server puts its socket in. */
const home = () => {
  const root = directory()
  const control = join(root, 'codex', 'app-server-control')
  mkdirSync(control, { recursive: true })
  return { root, socket: join(control, 'app-server-control.sock') }
}

/** Where Codex from 0.163 on has its socket: a link stands at the old path. */
const daemonSocket = (root: string, socket: string) => {
  const daemon = join(root, 'codex-daemon-1000')
  mkdirSync(daemon, { recursive: true })
  symlinkSync(join(daemon, 'a1b2c3'), socket)
  return daemon
}

describe('endpointIdentity', () => {
  test('is the path of the socket, whether or not it exists', () => {
    const { socket } = home()
    expect(endpointIdentity(socket)).toBe(socket)
    writeFileSync(socket, '')
    expect(endpointIdentity(socket)).toBe(socket)
  })

  test('survives an upgrade of Codex to the version that makes a link', () => {
    const { root, socket } = home()
    writeFileSync(socket, '')
    const before = endpointIdentity(socket)
    renameSync(socket, join(root, 'old'))
    daemonSocket(root, socket)
    expect(endpointIdentity(socket)).toBe(before)
  })

  test('is the same for a link that a person made to the socket, to its directory, or to such a link', () => {
    const { root, socket } = home()
    daemonSocket(root, socket)
    symlinkSync(socket, join(root, 'alias.sock'))
    symlinkSync('alias.sock', join(root, 'alias of alias.sock'))
    symlinkSync(join(root, 'codex'), join(root, 'linked'))
    const aliases = [
      join(root, 'alias.sock'),
      join(root, 'alias of alias.sock'),
      join(root, 'linked', 'app-server-control', 'app-server-control.sock'),
      join(root, 'codex', '..', 'codex', 'app-server-control', 'app-server-control.sock'),
    ]
    expect(aliases.map(endpointIdentity)).toEqual(aliases.map(() => socket))
  })

  test('knows the daemon directory behind a link of its parent', () => {
    const { root, socket } = home()
    const daemon = daemonSocket(root, socket)
    symlinkSync(daemon, join(root, 'tmp'))
    const alias = join(root, 'alias.sock')
    symlinkSync(join(root, 'tmp', 'a1b2c3'), alias)
    expect(endpointIdentity(alias)).toBe(alias)
  })

  test('is a daemon socket itself where a person names it', () => {
    const { root, socket } = home()
    const daemon = daemonSocket(root, socket)
    expect(endpointIdentity(join(daemon, 'a1b2c3'))).toBe(join(daemon, 'a1b2c3'))
  })

  test('resolves as many directories as there are', () => {
    const { root } = home()
    symlinkSync(join(root, 'codex'), join(root, 'linked'))
    expect(endpointIdentity(join(root, 'linked', 'not', 'yet', 'a.sock'))).toBe(
      join(root, 'codex', 'not', 'yet', 'a.sock'),
    )
  })

  test('ends at a circle of links', () => {
    const { root } = home()
    symlinkSync(join(root, 'b'), join(root, 'a'))
    symlinkSync(join(root, 'a'), join(root, 'b'))
    expect(endpointIdentity(join(root, 'a'))).toBe(join(root, 'a'))
  })
})

/** As Codex from 0.163 on: the socket in its daemon directory has the digest of the link's path for a name. */
const behindLink = () => {
  const { root, socket } = home()
  const daemon = join(root, 'codex-daemon-1000')
  mkdirSync(daemon)
  const target = join(daemon, createHash('sha256').update(socket).digest('hex'))
  symlinkSync(target, socket)
  return { root, socket, daemon, target }
}

describe('the ledger of a socket behind a link of Codex', () => {
  const pathOf = (socketPath: string): string => ledgerPlace({ stateDir: '/state', socketPath }).path

  test('is one, whatever path leads there, whether the socket exists or not', () => {
    const { root, socket, daemon, target } = behindLink()
    symlinkSync(socket, join(root, 'to the link.sock'))
    symlinkSync(target, join(root, 'past the link.sock'))
    symlinkSync(daemon, join(root, 'linked'))
    const paths = [
      socket,
      target,
      join(root, 'to the link.sock'),
      join(root, 'past the link.sock'),
      join(root, 'linked', basename(target)),
      join(root, 'codex', '..', 'codex-daemon-1000', basename(target)),
    ]
    const own = join('/state', ledgerFileName(socket))
    expect(paths.map(pathOf)).toEqual(paths.map(() => own))
    writeFileSync(target, '')
    expect(paths.map(pathOf)).toEqual(paths.map(() => own))
  })

  test('is another one for another socket of that directory', () => {
    const { daemon, target } = behindLink()
    const other = join(daemon, basename(target).replaceAll(/./g, 'a'))
    expect(pathOf(other)).toBe('/state/operations-aaaaaaaaaaaaaaaa.sqlite3')
  })

  test('is named after the path where the name in the daemon directory is no digest', () => {
    const { root, socket } = home()
    const daemon = daemonSocket(root, socket)
    expect(pathOf(socket)).toBe(join('/state', ledgerFileName(socket)))
    expect(pathOf(join(daemon, 'a1b2c3'))).toBe(join('/state', ledgerFileName(join(daemon, 'a1b2c3'))))
  })

  test('takes over what was kept under the socket’s own path', () => {
    const { target } = behindLink()
    expect(otherLedgerPaths({ stateDir: '/state', socketPath: target })).toEqual([
      join('/state', ledgerFileName(target)),
    ])
  })
})

test('a ledger has the name that the Python bridge gave it for the same path', () => {
  expect(ledgerFileName('/home/dev/.codex/app-server-control/app-server-control.sock')).toBe(
    'operations-67bd49083abf1007.sqlite3',
  )
  expect(ledgerFileName('/run/user/1000/alias.sock')).toBe('operations-d201784a36141725.sqlite3')
})

test('the state directory follows XDG_STATE_HOME when that is absolute', () => {
  expect(defaultStateDir({ XDG_STATE_HOME: '/state' }, '/home/dev')).toBe('/state/codex-thread-bridge')
  expect(defaultStateDir({ XDG_STATE_HOME: 'state' }, '/home/dev')).toBe(
    '/home/dev/.local/state/codex-thread-bridge',
  )
  expect(defaultStateDir({}, '/home/dev')).toBe('/home/dev/.local/state/codex-thread-bridge')
})

test('the place of a ledger follows from state directory and socket', () => {
  const { socket } = home()
  expect(ledgerPlace({ stateDir: '/state', socketPath: socket })).toEqual({
    path: join('/state', ledgerFileName(socket)),
    endpoint: socket,
  })
})
