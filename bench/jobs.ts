import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  at,
  standInPrompt,
  tempDir,
  textAt,
  writeStandIn,
  type Step,
} from '@codex-thread-bridge/test-fixtures'
import Database from 'better-sqlite3'
import { interleave, timed } from './support/interleave.ts'
import {
  bareSdkServer,
  ourServer,
  startMcpProcess,
  type Command,
  type McpProcess,
} from './support/mcp-process.ts'
import { atMost, rowOf, within, type Row } from './support/row.ts'

const FEW = 50
const MANY = 5_000
const LARGE_BYTES = 200_000_000
const LARGE_LINE = 2_000

interface Place {
  readonly work: string
  readonly standIn: string
  /** The server on a state directory of that name. */
  server(name: string): Command
  stateDir(name: string): string
}

/** Background jobs with a stand-in for Codex. */
export const jobs = async (): Promise<readonly Row[]> => {
  const root = tempDir('jobs')
  const work = join(root.path, 'work')
  mkdirSync(work)
  const stateDir = (name: string): string => join(root.path, name)
  const place: Place = {
    work,
    standIn: writeStandIn(root.path, 'stand-in'),
    stateDir,
    server: (name) => [...ourServer('/nowhere.sock', stateDir(name)), '--profile', 'jobs'],
  }
  const rows = [
    await startToList(place),
    await listWithMany(place),
    ...(await largeJob(place)),
    ...(await shortJobs(place)),
  ]
  await root.remove()
  return rows
}

const open = (place: Place, name: string): Promise<McpProcess> =>
  startMcpProcess(place.server(name), { CODEX_CLI_NAME: place.standIn })

const line = (event: object): string => `${JSON.stringify(event)}\n`
const message = (text: string): string =>
  line({ type: 'item.completed', item: { id: 'i', type: 'agent_message', text } })
const closing = line({ type: 'turn.completed', usage: {} })

const run = async (server: McpProcess, { work }: Place, ...steps: readonly Step[]): Promise<string> =>
  textAt(
    await server.callTool('run', { workFolder: work, agent: 'codex', prompt: standInPrompt(...steps) }),
    'job_id',
  )

const waitFor = async (server: McpProcess, jobId: string): Promise<void> => {
  while (at(await server.callTool('wait', { job_ids: [jobId] }), 'timed_out') === true) continue
}

const startToList = async (place: Place): Promise<Row> => {
  const once = async (command: Command): Promise<number> => {
    const begin = performance.now()
    const server = await startMcpProcess(command)
    await server.ask('tools/list')
    const ms = performance.now() - begin
    await server.close()
    return ms
  }
  const samples = await interleave(
    { ours: () => once(place.server('start')), baseline: () => once(bareSdkServer) },
    { warmUp: 2, rounds: 15 },
  )
  return rowOf({ what: 'jobs: start to tools/list : bare SDK server', unit: 'ms', ...samples })
}

/** Copies the one job that is there until there are so many that have ended. */
const fill = (stateDir: string, count: number): void => {
  const db = new Database(join(stateDir, 'jobs.sqlite3'))
  const columns = db
    .prepare<[], string>(`SELECT name FROM pragma_table_info('jobs') WHERE name NOT IN ('seq', 'job_id')`)
    .pluck()
    .all()
    .join(', ')
  const copy = db.prepare(`INSERT INTO jobs (job_id, ${columns}) SELECT ?, ${columns} FROM jobs LIMIT 1`)
  db.transaction(() => {
    for (let made = 1; made < count; made += 1) copy.run(`job-copy-${String(made)}`)
  })()
  db.close()
}

const listWithMany = async (place: Place): Promise<Row> => {
  const servers = await Promise.all(
    [FEW, MANY].map(async (count) => {
      const name = `list-${String(count)}`
      const server = await open(place, name)
      await waitFor(server, await run(server, place, { print: message('done') + closing }))
      fill(place.stateDir(name), count)
      return server
    }),
  )
  const [few, many] = servers
  if (few === undefined || many === undefined) throw new Error('no servers')
  const list = (server: McpProcess) => () => timed(() => server.callTool('list_processes', { limit: FEW }))
  const samples = await interleave({ ours: list(many), baseline: list(few) }, { warmUp: 20, rounds: 200 })
  await Promise.all(servers.map((server) => server.close()))
  const what = `list_processes with ${MANY.toLocaleString('en-US')} ended jobs : with ${String(FEW)}`
  return rowOf({ what, unit: 'ms', ...samples, goal: atMost(2) })
}

const largeJob = async (place: Place): Promise<readonly Row[]> => {
  const server = await open(place, 'large')
  await waitFor(server, await run(server, place, { print: closing }))
  const idle = await server.memory()
  const steps = [
    { fill: LARGE_BYTES, line: message('x'.repeat(LARGE_LINE)) },
    { print: message('the end') + closing },
  ]
  const jobId = await run(server, place, ...steps)
  await waitFor(server, jobId)
  const before = await server.memory()
  const ms: number[] = []
  for (let round = 0; round < 20; round += 1)
    ms.push(await timed(() => server.callTool('get_result', { job_id: jobId })))
  const grown = Math.max(0, (await server.memory()) - before)
  const peak = (await server.peakMemory()) - idle
  await server.close()
  return [
    rowOf({ what: 'get_result of a job with 200 MB of output', unit: 'ms', ours: ms, goal: within(50) }),
    rowOf({ what: 'memory that get_result adds on it', unit: 'MB', ours: [grown], goal: within(30, 'MB') }),
    rowOf({ what: 'peak memory over idle while that job ran', unit: 'MB', ours: [peak] }),
  ]
}

const shortJobs = async (place: Place): Promise<readonly Row[]> => {
  const server = await open(place, 'short')
  const toAnswer: number[] = []
  const toOutput: number[] = []
  for (let round = 0; round < 25; round += 1) {
    const begin = performance.now()
    const jobId = await run(server, place, { print: message('first') }, { sleep: 200 }, { print: closing })
    while (at(await server.callTool('get_result', { job_id: jobId }), 'agentOutput.message') !== 'first')
      await sleep(1)
    toOutput.push(performance.now() - begin)
    await waitFor(server, jobId)
    const answered = Date.now()
    const { mtimeMs } = statSync(join(place.stateDir('short'), 'jobs', jobId, 'exit'))
    toAnswer.push(answered - mtimeMs)
  }
  await server.close()
  return [
    rowOf({ what: 'exit of a job to the answer of wait', unit: 'ms', ours: toAnswer, goal: within(50) }),
    rowOf({ what: 'run to first output', unit: 'ms', ours: toOutput }),
  ]
}
