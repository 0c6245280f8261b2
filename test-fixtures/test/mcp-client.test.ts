import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type McpClientProcess, poll, startMcpClient } from '../src/index.ts'

const script = fileURLToPath(new URL('tiny-mcp-server.mjs', import.meta.url))

describe('the MCP client', () => {
  let mcp: McpClientProcess

  beforeEach(async () => {
    mcp = await startMcpClient({ command: process.execPath, args: [script], env: { GIVEN: 'yes' } })
  })
  afterEach(() => mcp.close())

  it('lists the tools', async () => {
    expect((await mcp.tools()).map(({ name }) => name)).toEqual([
      'echo',
      'fail',
      'progress',
      'go_on',
      'wait',
      'env',
    ])
  })

  it('sends arguments and _meta and reads the structured result', async () => {
    const result = await mcp.call('echo', { a: 1 }, { meta: { threadId: 't' } })
    const structured = { arguments: { a: 1 }, meta: { threadId: 't' } }
    expect(result).toEqual({ isError: false, structured, text: JSON.stringify(structured), error: undefined })
  })

  it('parses the error of a call that could not be carried out', async () => {
    expect(await mcp.call('fail')).toMatchObject({
      isError: true,
      structured: undefined,
      error: { code: 'no_luck', message: 'No luck.', hint: 'Try another.', next: 'fix_call' },
    })
  })

  it('hears progress', async () => {
    const heard: unknown[] = []
    const onProgress = (progress: unknown) => {
      heard.push(progress)
      void mcp.call('go_on')
    }
    await mcp.call('progress', {}, { onProgress })
    expect(heard).toEqual([{ progress: 1, message: 'half' }])
  })

  it('passes on the given environment and little else', async () => {
    const names = Object.keys((await mcp.call('env')).structured ?? {})
    expect(names).toContain('GIVEN')
    expect(names.filter((name) => name.startsWith('VITEST'))).toEqual([])
  })

  it('cancels a call', async () => {
    const abort = new AbortController()
    const call = mcp.call('wait', {}, { signal: abort.signal })
    await poll(() => mcp.stderr.includes('waiting'))
    abort.abort('enough')
    await expect(call).rejects.toThrow('enough')
    await poll(() => mcp.stderr.includes('cancelled'))
  })

  it('kills the server, and the calls in flight fail', async () => {
    const [call] = await Promise.allSettled([mcp.call('wait'), mcp.kill()])
    expect(call).toMatchObject({ status: 'rejected', reason: { code: -32000 } })
    expect(() => process.kill(mcp.pid, 0)).toThrow('ESRCH')
  })
})

it('says what a command that is no MCP server wrote', async () => {
  const args = ['-e', 'console.error("no server here"); process.exit(1)']
  await expect(startMcpClient({ command: process.execPath, args })).rejects.toThrow('no server here')
})
