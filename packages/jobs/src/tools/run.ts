import { BridgeError, defineMutation, given } from '@codex-thread-bridge/core/contract'
import type { Receipt } from '@codex-thread-bridge/core/ledger'
import { plainPolicy, sandboxNames } from '@codex-thread-bridge/core/protocol'
import { absoluteFault, resolveCwd } from '@codex-thread-bridge/core/threads'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { clis } from '../clis/index.ts'
import { locateCli, requireCli } from '../clis/locate.ts'
import { routeOf, type Route } from '../clis/route.ts'
import type { Jobs } from '../jobs.ts'
import type { JobsOptions } from '../options.ts'
import { readPromptFile } from '../prompt-file.ts'
import type { Agent } from '../store/job.ts'
import { agent, requestId } from './fields.ts'
import { lazily } from '../lazily.ts'

const PROMPT_MAX = 1_048_576
const PATH_MAX = 4_096
const NAME_MAX = 500
const TIMEOUT_MAX = 604_800

const Started = Type.Object({
  pid: Type.Integer(),
  jobId: Type.String(),
  agent: Type.String(),
  access: Type.String(),
  message: Type.String(),
})
const started = lazily(() => Compile(Started))

const text = (description: string, maxLength: number, pattern = '\\S') =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern,
    description: `${description} (1 to ${maxLength.toLocaleString('en-US')} characters, not blank)`,
  })

/** The first of the agents for everyday work that is installed. @throws BridgeError cli_unavailable */
const standardAgent = ({ agent: configured, env, homedir }: JobsOptions): Agent => {
  if (configured !== undefined) return configured
  const everyday = [clis.claude, clis.codex, clis.opencode]
  const installed = everyday.find((cli) => locateCli(cli, env, homedir).fault === undefined)
  if (installed !== undefined) return installed.agent
  throw new BridgeError('cli_unavailable', 'None of claude, codex and opencode is installed here.')
}

const checkAccess = ({ cli }: Route, access: (typeof sandboxNames)[number], isRoot: boolean): void => {
  const refusal = cli.refuseAccess?.(access, isRoot)
  if (refusal === undefined) return
  throw new BridgeError('access_unavailable', `${refusal}; the job was to have ${access}.`, {
    field: 'access',
  })
}

const words = (receipt: Receipt) => {
  const { pid, jobId, agent: name, access, message } = started().Parse(receipt)
  const { requestId: id, replayed } = receipt
  return {
    pid,
    job_id: jobId,
    status: 'started',
    agent: name,
    message,
    access,
    requestId: id,
    ...given({ replayed }),
  }
}

/** run (contract: jobs). */
export const run = (jobs: Jobs) =>
  defineMutation({
    name: 'run',
    title: 'Start a CLI agent as a background job',
    description:
      'Starts a local AI coding CLI (Claude Code, Codex, OpenCode, Forge, Antigravity) as a background job and answers at once with pid and job_id; the job goes on when this server ends. Then wait, get_result or peek. Model names choose the CLI: claude-ultra, codex-ultra, gpt-*, sonnet, opus, haiku, claude-*, oc-PROVIDER/MODEL, forge, antigravity (see models); agent overrides it. Give exactly one of prompt and prompt_file. access limits what the agent may do (read-only, workspace-write, danger-full-access); it works unattended, so what it may not do is refused, not asked. session_id of an earlier result goes on with its conversation. The same request_id never starts a second job. Only start a job when the user wants it.',
    input: Type.Object(
      {
        request_id: Type.Optional(requestId),
        workFolder: text('Absolute path of the existing directory to work in', PATH_MAX),
        prompt: Type.Optional(text('The task, sent exactly as given; or prompt_file', PROMPT_MAX)),
        prompt_file: Type.Optional(
          text(
            'A file with the task, absolute or relative to workFolder and inside it, UTF-8, at most 1 MiB',
            PATH_MAX,
          ),
        ),
        model: Type.Optional(text('Model or alias', NAME_MAX)),
        reasoning_effort: Type.Optional(
          text(
            'claude: low, medium, high, xhigh, max; codex: low, medium, high, xhigh; others take none',
            NAME_MAX,
          ),
        ),
        session_id: Type.Optional(text('session_id of an earlier result, to go on with it', NAME_MAX)),
        agent: Type.Optional(agent('Which CLI; wins over what the model implies')),
        access: Type.Optional(
          Type.Enum([...sandboxNames], {
            type: 'string',
            description: 'What the agent may do (default: as the operator set it, workspace-write)',
          }),
        ),
        timeout_seconds: Type.Optional(
          Type.Number({
            minimum: 1,
            maximum: TIMEOUT_MAX,
            description: `Ends the job after so many seconds (1 to ${TIMEOUT_MAX.toLocaleString('en-US')}; default: never)`,
          }),
        ),
        name: Type.Optional(text('A name for lists', NAME_MAX)),
      },
      { additionalProperties: false },
    ),
    output: Type.Object({
      requestId: Type.String(),
      status: Type.String({ description: 'started; else the status of the receipt' }),
      pid: Type.Optional(Type.Integer()),
      job_id: Type.Optional(Type.String()),
      agent: Type.Optional(Type.String()),
      access: Type.Optional(Type.String()),
      message: Type.Optional(Type.String()),
      replayed: Type.Optional(Type.Boolean()),
    }),
    uses: [],
    examples: [
      {
        input: { workFolder: '/', prompt: 'Count the files.', agent: 'codex', access: 'read-only' },
        answers: {},
      },
    ],

    check(input) {
      if ((input.prompt === undefined) === (input.prompt_file === undefined))
        return { field: 'prompt', message: 'Exactly one of `prompt` and `prompt_file` is needed.' }
      if (input.prompt?.includes('\0') === true)
        return { field: 'prompt', message: '`prompt` must not have a NUL character.' }
      return absoluteFault('workFolder', input.workFolder)
    },

    async run(ctx, input) {
      const { options } = jobs
      const route = routeOf(input, () => standardAgent(options))
      const access = input.access ?? options.access
      checkAccess(route, access, options.isRoot)
      const command = requireCli(route.cli, options.env, options.homedir)
      const policy = plainPolicy(access)
      await ctx.judge('The job', { cwd: input.workFolder, policy })
      const workFolder = await resolveCwd(input.workFolder, 'workFolder')
      const prompt =
        input.prompt ?? (await readPromptFile(input.prompt_file ?? '', [workFolder, ...options.allowRoots]))
      await jobs.checkRoom()
      const job = await ctx.step(
        'start',
        () =>
          jobs.start({
            requestId: ctx.receipt.requestId,
            route,
            command,
            access,
            workFolder,
            prompt,
            askedModel: input.model,
            timeoutMs:
              input.timeout_seconds === undefined ? undefined : Math.round(input.timeout_seconds * 1_000),
            name: input.name,
          }),
        { access: { cwd: workFolder, policy } },
      )
      const message = `${route.cli.title} started. Call wait, get_result or peek with job_id ${job.jobId}.`
      return { pid: job.pid, jobId: job.jobId, agent: job.agent, access, message, workFolder }
    },

    /** A job is written down before its process starts: what is not there was not started. */
    async reconcileHere(receipt) {
      const job = (await jobs.store()).ofRequest(receipt.requestId)
      const looked = { jobs: 1 }
      if (job === undefined || job.pid === null) {
        const now = job && (await jobs.settle(job))
        if (now === undefined || now.outcome === 'lost') return { verdict: 'not_started', looked }
        return { verdict: 'not_found', looked }
      }
      const { pid, jobId, access } = job
      const message = `${clis[job.agent].title} was started.`
      return { verdict: 'created', looked, patch: { pid, jobId, agent: job.agent, access, message } }
    },

    answer: (receipt) => (receipt.status === 'accepted' ? words(receipt) : receipt),
  })
