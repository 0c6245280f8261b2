import { listAt, at, tempDir } from '@codex-thread-bridge/test-fixtures'
import { ourServer, startMcpProcess } from './support/mcp-process.ts'
import { rowOf, type Row } from './support/row.ts'

/** What the tools cost before the first call: the JSON of tools/list, and the part of it that hosts show to a model. */
export const tokenCost = async (): Promise<readonly Row[]> => {
  const state = tempDir('state')
  const server = await startMcpProcess(ourServer('/nowhere.sock', state.path))
  const result = await server.ask('tools/list')
  await server.close()
  await state.remove()
  const shown = listAt(result, 'tools').map((tool) => ({
    name: at(tool, 'name'),
    description: at(tool, 'description'),
    inputSchema: at(tool, 'inputSchema'),
  }))
  return [
    rowOf({ what: 'tools/list', unit: 'bytes', ours: [bytes(result)] }),
    rowOf({ what: 'its names, descriptions, inputs', unit: 'bytes', ours: [bytes(shown)] }),
  ]
}

const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))
