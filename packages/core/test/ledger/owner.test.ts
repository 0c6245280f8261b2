import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test, vi } from 'vitest'
import { isAlive, processOwner } from '../../src/ledger/index.ts'
import { processFacts } from '../../src/ledger/owner.ts'
import { firstLine } from './support.ts'

/** A process that does nothing, and its owner record. */
const start = async (command: string, args: readonly string[]) => {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return { child, owner: ownerOf(child.pid ?? 0) }
}

const ownerOf = (pid: number) => ({
  pid,
  startTime: processFacts(pid)?.startTime ?? '',
  bootId: processOwner().bootId,
})

test('this process is alive', () => {
  const self = processOwner()
  expect(self.pid).toBe(process.pid)
  expect([self.startTime, self.bootId]).not.toContain('')
  expect(isAlive(self)).toBe(true)
})

test('another process is alive until it ends', async () => {
  const { child, owner } = await start('sleep', ['60'])
  expect(isAlive(owner)).toBe(true)
  const exit = once(child, 'exit')
  child.kill('SIGKILL')
  await exit
  expect(isAlive(owner)).toBe(false)
})

test('a process of another boot is dead, whatever runs under its pid', () => {
  expect(isAlive({ ...processOwner(), bootId: 'another' })).toBe(false)
})

test('a process that started at another time is another process', async () => {
  const { owner } = await start('sleep', ['60'])
  expect(isAlive({ ...owner, startTime: '1' })).toBe(false)
  expect(isAlive({ ...processOwner(), startTime: '1' })).toBe(false)
})

test('a pid that names a group is no process', () => {
  expect(isAlive({ ...processOwner(), pid: 0 })).toBe(false)
  expect(isAlive({ ...processOwner(), pid: -1 })).toBe(false)
})

test('a process that ended and was not waited for is dead', async () => {
  // After exec nobody waits for the shell's child.
  const { child } = await start('sh', ['-c', 'sleep 0.01 & echo $!; exec sleep 60'])
  const pid = Number(await firstLine(child))
  await vi.waitFor(() => expect(processFacts(pid)?.state).toBe('Z'), { timeout: 10_000, interval: 10 })
  expect(isAlive(ownerOf(pid))).toBe(false)
})

test.skipIf(process.platform !== 'linux')('a command with spaces and parentheses is read right', async () => {
  const script = `require('node:fs').writeFileSync('/proc/self/comm', 'a) R 1 (b'); console.log('named')`
  const child = spawn(process.execPath, ['-e', `${script}; setInterval(() => {}, 60_000)`])
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  const facts = processFacts(child.pid ?? 0)
  expect(facts?.state).toMatch(/^[RSD]$/)
  expect(Number(facts?.startTime)).toBeGreaterThanOrEqual(Number(processOwner().startTime))
})

test('a process of another user is alive', () => {
  const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error('kill EPERM'), { code: 'EPERM' })
  })
  onTestFinished(() => kill.mockRestore())
  expect(isAlive(ownerOf(process.ppid))).toBe(true)
})
