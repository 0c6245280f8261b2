import { once } from 'node:events'
import { existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { describe, expect, it, vi } from 'vitest'
import { at, listAt, poll, protocolSchema, startWorld, tempDir, testedVersions } from '../src/index.ts'

const abandonedWorld = fileURLToPath(new URL('abandoned-world.ts', import.meta.url))

describe.each(testedVersions)('a world of codex %s', (version) => {
  it('takes more configuration and leaves nothing behind', async () => {
    const world = await startWorld({ version, config: 'sandbox_mode = "danger-full-access"' })
    const client = await world.openClient()
    const started = await client.call('thread/start', { cwd: world.cwd })
    expect(at(started, 'sandbox.type')).toBe('dangerFullAccess')
    const { pid } = world.appServer
    await world.close()
    expect(existsSync(world.home.path)).toBe(false)
    expect(existsSync(world.cwd)).toBe(false)
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  it('closes whatever has ended before', async () => {
    const world = await startWorld({ version })
    await world.appServer.kill()
    await world.model.close()
    await world.proxy.close()
    await world.close()
    expect(existsSync(world.home.path)).toBe(false)
  })

  it('fails with the words of the server when the configuration is wrong', async () => {
    await expect(startWorld({ version, config: 'sandbox_mode = 7' })).rejects.toThrow(
      `codex app-server ${version} did not start`,
    )
  })

  it.each(['throw', 'SIGTERM'] as const)(
    'ends with a test run that ends in the middle by %s',
    async (how) => {
      const run = execa('node', ['--import', 'tsx', abandonedWorld, version, how], { reject: false })
      const line: unknown = JSON.parse((await once(run.stdout, 'data')).join(''))
      if (how !== 'throw') run.kill(how)
      await run
      const [pid, ...folders] = listAt({ line }, 'line').map(String)
      expect(folders.filter((folder) => existsSync(folder))).toEqual([])
      const { stdout: state } = await execa('ps', ['-o', 'state=', '-p', String(pid)], { reject: false })
      expect(['', 'Z']).toContain(state)
    },
  )

  it('generates the schema of its protocol once', async () => {
    const [folder, again] = await Promise.all([protocolSchema(version), protocolSchema(version)])
    expect(again).toBe(folder)
    expect(existsSync(join(folder, 'codex_app_server_protocol.schemas.json'))).toBe(true)
    expect(existsSync(join(folder, 'ClientRequest.json'))).toBe(true)
  })
})

describe('a temporary directory', () => {
  it('is in no Git checkout even if TMPDIR lies in one', async () => {
    const checkout = tempDir('git')
    await execa('git', ['init', '-q', checkout.path])
    const inside = join(checkout.path, 'tmp')
    mkdirSync(inside)
    vi.stubEnv('TMPDIR', inside)
    const made = tempDir('made')
    vi.unstubAllEnvs()
    expect(dirname(made.path)).not.toBe(inside)
    expect((await execa('git', ['rev-parse'], { cwd: made.path, reject: false })).exitCode).toBe(128)
    await made.remove()
    await checkout.remove()
    expect(existsSync(made.path)).toBe(false)
  })
})

describe('poll', () => {
  it('gives the value that met the condition', async () => {
    let looks = 0
    expect(await poll(() => (looks += 1) > 2 && `met at look ${String(looks)}`)).toBe('met at look 3')
  })

  it('names what was awaited, with the error of the last look as the cause', async () => {
    const awaited = poll(() => Promise.reject(new Error('not there')), { what: 'the file', timeoutMs: 20 })
    await expect(awaited).rejects.toMatchObject({
      message: 'not within 20 ms: the file',
      cause: { message: 'not there' },
    })
  })
})
