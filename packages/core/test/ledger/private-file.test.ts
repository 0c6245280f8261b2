import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { BridgeError } from '../../src/contract/index.ts'
import { fileSystemKind, isPrivateDirectory, openLedger } from '../../src/ledger/index.ts'
import { kindOfMagic } from '../../src/ledger/file-system.ts'
import { directory, endpoint, openHere, row } from './support.ts'

const isRoot = process.getuid?.() === 0
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

const refusal = async (path: string): Promise<BridgeError> => {
  try {
    ;(await openLedger({ path, endpoint })).close()
  } catch (error) {
    if (BridgeError.is(error)) return error
  }
  throw new Error('was not refused')
}

test('a new ledger, its side files and every new directory above it belong to this user alone', async () => {
  const mask = process.umask(0o022)
  onTestFinished(() => void process.umask(mask))
  const root = join(directory(), 'state')
  const path = join(root, 'bridge', 'operations.sqlite3')
  const ledger = await openHere(path)
  ledger.claim(row('r'))
  const files = readdirSync(join(root, 'bridge')).sort()
  expect(files).toEqual(['operations.sqlite3', 'operations.sqlite3-shm', 'operations.sqlite3-wal'])
  expect(files.map((file) => modeOf(join(root, 'bridge', file)))).toEqual(['600', '600', '600'])
  expect([modeOf(root), modeOf(join(root, 'bridge'))]).toEqual(['700', '700'])
})

test('a directory that others can enter is refused before anything is written', async () => {
  const root = directory()
  chmodSync(root, 0o750)
  const error = await refusal(join(root, 'operations.sqlite3'))
  expect(error.code).toBe('ledger_not_private')
  expect(error.message).toBe(`${root} has mode 0750 and belongs to uid ${process.getuid?.()}.`)
  expect(readdirSync(root)).toEqual([])
})

test('who only looks is told of a directory that others can enter, and makes none', () => {
  const root = directory()
  expect([isPrivateDirectory(root), isPrivateDirectory(join(root, 'none', 'deeper'))]).toEqual([true, false])
  expect(readdirSync(root)).toEqual([])
  chmodSync(root, 0o777)
  expect(() => isPrivateDirectory(root)).toThrow(`${root} has mode 0777`)
  writeFileSync(join(root, 'file'), '')
  expect(() => isPrivateDirectory(join(root, 'file'))).toThrow('is no directory')
})

test('a file that others can read is refused', async () => {
  const path = join(directory(), 'operations.sqlite3')
  ;(await openLedger({ path, endpoint })).close()
  chmodSync(path, 0o640)
  const error = await refusal(path)
  expect([error.code, error.details?.mode, error.details?.path]).toEqual(['ledger_not_private', '0640', path])
})

test.skipIf(!isRoot)('a file or directory of another user is refused (only root can make one)', async () => {
  const root = directory()
  const path = join(root, 'operations.sqlite3')
  ;(await openLedger({ path, endpoint })).close()
  chownSync(path, 65_534, 65_534)
  expect([(await refusal(path)).code, (await refusal(path)).details?.uid]).toEqual([
    'ledger_not_private',
    65_534,
  ])
  chownSync(path, 0, 0)
  chownSync(root, 65_534, 65_534)
  expect((await refusal(path)).message).toBe(`${root} has mode 0700 and belongs to uid 65534.`)
})

test('a link in place of the file is refused, also one that leads nowhere', async () => {
  const root = directory()
  const target = join(root, 'elsewhere.sqlite3')
  const path = join(root, 'operations.sqlite3')
  symlinkSync(target, path)
  const error = await refusal(path)
  expect([error.code, error.message]).toEqual(['ledger_not_private', `${path} is a symbolic link.`])
  expect(existsSync(target)).toBe(false)
  ;(await openLedger({ path: target, endpoint })).close()
  expect((await refusal(path)).code).toBe('ledger_not_private')
})

test('a state directory that is something else is refused by what stands there', async () => {
  const root = directory()
  const [file, link] = [join(root, 'file'), join(root, 'link')]
  writeFileSync(file, '')
  symlinkSync(join(root, 'nowhere'), link)
  const messageOf = async (state: string) => {
    const { code, message } = await refusal(join(state, 'operations.sqlite3'))
    return [code, message]
  }
  const fileIs = `${file} is no directory`
  expect(await messageOf(file)).toEqual(['ledger_unavailable', `${file} cannot be used: ${fileIs}.`])
  const below = join(file, 'a', 'b')
  expect(await messageOf(below)).toEqual(['ledger_unavailable', `${below} cannot be used: ${fileIs}.`])
  const linkIs = `${link} is a link that leads to no directory`
  expect(await messageOf(link)).toEqual(['ledger_unavailable', `${link} cannot be used: ${linkIs}.`])
  expect(readdirSync(root)).toEqual(['file', 'link'])
})

// Node's own recursive mkdir never comes back there.
test.skipIf(process.platform !== 'linux')('a state directory where none can be made is refused', async () => {
  const error = await refusal('/proc/no/such/place/operations.sqlite3')
  expect([error.code, error.message]).toEqual([
    'ledger_unavailable',
    '/proc/no cannot be used: /proc lets no directory be made in it.',
  ])
})

test('a directory in place of the file is refused', async () => {
  const path = join(directory(), 'operations.sqlite3')
  mkdirSync(path)
  expect((await refusal(path)).code).toBe('ledger_unavailable')
})

test('a network file system gets a rollback journal, whatever the file had', async () => {
  const root = directory()
  const path = join(root, 'operations.sqlite3')
  const local = await openLedger({ path, endpoint })
  local.claim(row('local'))
  local.close()
  const fileSystem = () => ({ name: 'nfs', network: true })
  const ledger = await openLedger({ path, endpoint, fileSystem })
  onTestFinished(() => ledger.close())
  ledger.claim(row('remote'))
  expect(ledger.list({ limit: 9 }).receipts).toHaveLength(2)
  expect(readdirSync(root)).toEqual(['operations.sqlite3'])
})

test.skipIf(process.platform !== 'linux')('file systems are told by their magic number', () => {
  expect(kindOfMagic(0x6969)).toEqual({ name: 'nfs', network: true })
  expect(kindOfMagic(0xff534d42 - 2 ** 32)).toEqual({ name: 'cifs', network: true })
  expect(kindOfMagic(0x65735546)).toEqual({ name: 'fuse', network: true })
  expect(kindOfMagic(0xef53)).toEqual({ name: 'other', network: false })
  expect(fileSystemKind('/proc')).toEqual({ name: 'other', network: false })
})
