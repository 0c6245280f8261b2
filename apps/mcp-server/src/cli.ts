import { Command, CommanderError, Option } from 'commander'
import { demo } from './commands/demo/demo.ts'
import { doctor } from './commands/doctor.ts'
import {
  cleanJobs,
  killJob,
  listJobs,
  showJob,
  tailJob,
  type CleanFlags,
  type JobFilter,
} from './commands/jobs.ts'
import { manifest } from './commands/manifest.ts'
import {
  listOperations,
  reconcileAll,
  reconcileOperation,
  showOperation,
  type ListFilter,
} from './commands/operations.ts'
import type { Bounds } from './commands/operations/reconcile-all.ts'
import { backupOperations } from './commands/operations/backup.ts'
import { exportOperations, type ExportFlags } from './commands/operations/export.ts'
import { serve } from './commands/serve.ts'
import { optionRows, readOptions, UsageError, variableOf, type BridgeOptions, type Flags } from './options.ts'
import { printable } from './printable.ts'
import { version } from './version.ts'

interface JsonFlag {
  readonly json?: boolean
}

type ReconcileFlags = JsonFlag & Bounds & { readonly all?: boolean }

const rows = Object.values(optionRows)

const collect = (text: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  text,
]

const commanderOption = (row: (typeof rows)[number]): Option => {
  const about = `${row.about} [${variableOf(row)}]`
  return row.placeholder === undefined
    ? new Option(row.flag, about)
    : new Option(`${row.flag} <${row.placeholder}>`, about).argParser(collect)
}

/** What stood on the command line, by flag. */
const flagsOf = (program: Command): Flags =>
  new Map(
    rows.flatMap((row) => {
      const name = commanderOption(row).attributeName()
      const value: unknown = program.getOptionValue(name)
      if (program.getOptionValueSource(name) !== 'cli') return []
      return [[row.flag, Array.isArray(value) ? value.map(String) : ['']] as const]
    }),
  )

const oneLine = (text: string): string => `${printable(text.trim().replaceAll(/\s*\n\s*/g, ' '))}\n`

/** The program; what its command exits with goes to `exit`. */
const buildProgram = (exit: (code: number) => void): Command => {
  const program = new Command('codex-thread-bridge')
  /** Runs a command with the options in force. */
  const running = async (command: (options: BridgeOptions) => Promise<number>): Promise<void> =>
    exit(await command(readOptions(flagsOf(program), process.env)))
  const asJson = ({ json = false }: JsonFlag) => ({ json })

  program
    .description(
      'MCP server on stdio: create, message, read and wait for Codex threads of the App Server on this host.',
    )
    .version(version)
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({ outputError: (text, write) => write(oneLine(text)) })
    .configureHelp({ showGlobalOptions: true })
    .action(async () => {
      const [unknown] = program.args
      if (unknown !== undefined) throw new UsageError(`unknown command '${unknown}'`)
      await running(serve)
    })
  for (const row of rows) program.addOption(commanderOption(row))

  program
    .command('doctor')
    .description('check socket, App Server, ledger and disk; changes nothing')
    .option('--json', 'as JSON')
    .action((flags: JsonFlag) => running((options) => doctor(options, asJson(flags))))
  program
    .command('manifest')
    .description('show the tools')
    .option('--json', 'as JSON, with schemas')
    .action((flags: JsonFlag) => running((options) => manifest(options, asJson(flags))))
  program
    .command('demo')
    .description('play a story with a real App Server and a scripted model (from a checkout)')
    .action(() => running(demo))
  addOperations(program, running, asJson)
  addWorktrees(program, running, asJson)
  addJobs(program, running, asJson)
  // After its sub-commands, which would inherit it: a word too many is an unknown command here only.
  return program.allowExcessArguments()
}

const addOperations = (
  program: Command,
  running: (command: (options: BridgeOptions) => Promise<number>) => Promise<void>,
  asJson: (flags: JsonFlag) => { json: boolean },
): void => {
  const operations = program
    .command('operations')
    .description('look at receipts')
    .action((_flags: object, command: Command) => {
      const [unknown] = command.args
      throw new UsageError(
        unknown === undefined
          ? 'operations needs one of: list, show ID, reconcile ID|--all, backup FILE, export'
          : `unknown command 'operations ${unknown}'`,
      )
    })
  operations
    .command('list')
    .description('newest first')
    .option('--status <STATUS>', 'only these: in_progress_or_unknown, accepted, failed, outcome_unknown')
    .option('--thread <ID>', 'only those on this thread')
    .option('--limit <N>', 'at most so many, 1-100 (default: 20)')
    .option('--cursor <CURSOR>', 'the next page')
    .option('--json', 'as JSON')
    .action((flags: JsonFlag & ListFilter) =>
      running((options) => listOperations(options, flags, asJson(flags))),
    )
  operations
    .command('show')
    .description('one receipt')
    .argument('<ID>', 'its request id')
    .option('--json', 'as JSON')
    .action((id: string, flags: JsonFlag) => running((options) => showOperation(options, id, asJson(flags))))
  operations
    .command('reconcile')
    .description('find the truth of an uncertain receipt with read-only calls, and keep it')
    .argument('[ID]', 'its request id')
    .option('--all', 'every receipt that is uncertain, newest first')
    .option('--limit <N>', 'with --all: look up at most so many, 1-999999 (default: 1000)')
    .option('--cursor <CURSOR>', 'with --all: go on where an earlier one ended')
    .option('--json', 'as JSON')
    .action((id: string | undefined, { all = false, ...flags }: ReconcileFlags) => {
      if ((id === undefined) !== all) throw new UsageError('operations reconcile needs an ID or --all')
      if (!all && (flags.limit ?? flags.cursor) !== undefined)
        throw new UsageError('--limit and --cursor go with --all')
      return running((options) =>
        id === undefined
          ? reconcileAll(options, flags, asJson(flags))
          : reconcileOperation(options, id, asJson(flags)),
      )
    })
  operations
    .command('backup')
    .description('copy the ledger to a new file, also while servers write')
    .argument('<FILE>', 'must not exist')
    .option('--json', 'as JSON')
    .action((file: string, flags: JsonFlag) =>
      running(async (options) => backupOperations(options, file, asJson(flags))),
    )
  operations
    .command('export')
    .description('every receipt as a JSON line, oldest first, without texts')
    .option('--with-texts', 'with titles, names, previews and the words of errors')
    .option('--json', 'as it is: JSON lines; an error as JSON too')
    .action((flags: JsonFlag & ExportFlags) =>
      running((options) => exportOperations(options, flags, asJson(flags))),
    )
  operations.allowExcessArguments()
}

/** Loaded when they are needed: the server starts faster. */
const worktreeCommands = () => import('./commands/worktrees.ts')

const addWorktrees = (
  program: Command,
  running: (command: (options: BridgeOptions) => Promise<number>) => Promise<void>,
  asJson: (flags: JsonFlag) => { json: boolean },
): void => {
  const worktrees = program
    .command('worktrees')
    .description('look after the worktrees that codex-app tools have made')
    .action((_flags: object, command: Command) => {
      const [unknown] = command.args
      throw new UsageError(
        unknown === undefined
          ? 'worktrees needs one of: list, prune'
          : `unknown command 'worktrees ${unknown}'`,
      )
    })
  worktrees
    .command('list')
    .description('where they are and what is in them')
    .option('--json', 'as JSON')
    .action((flags: JsonFlag) =>
      running(async (options) => (await worktreeCommands()).showWorktrees(options, asJson(flags))),
    )
  worktrees
    .command('prune')
    .description('remove those without work of their own in which no thread works any more')
    .option('--json', 'as JSON')
    .action((flags: JsonFlag) =>
      running(async (options) => (await worktreeCommands()).pruneWorktrees(options, asJson(flags))),
    )
  worktrees.allowExcessArguments()
}

const addJobs = (
  program: Command,
  running: (command: (options: BridgeOptions) => Promise<number>) => Promise<void>,
  asJson: (flags: JsonFlag) => { json: boolean },
): void => {
  const jobs = program
    .command('jobs')
    .description('look at background jobs')
    .action((_flags: object, command: Command) => {
      const [unknown] = command.args
      throw new UsageError(
        unknown === undefined
          ? 'jobs needs one of: list, show JOB, tail JOB, kill JOB, clean'
          : `unknown command 'jobs ${unknown}'`,
      )
    })
  jobs
    .command('list')
    .description('newest first')
    .option('--status <STATUS>', 'only these: running, completed, failed')
    .option('--limit <N>', 'at most so many, 1-200 (default: 50)')
    .option('--cursor <CURSOR>', 'the next page')
    .option('--json', 'as JSON')
    .action((flags: JsonFlag & JobFilter) => running((options) => listJobs(options, flags, asJson(flags))))
  jobs
    .command('show')
    .description('one job and its result')
    .argument('<JOB>', 'its job id, or its pid')
    .option('--json', 'as JSON')
    .action((job: string, flags: JsonFlag) => running((options) => showJob(options, job, asJson(flags))))
  jobs
    .command('tail')
    .description('what its agent says and does')
    .argument('<JOB>', 'its job id, or its pid')
    .option('-f, --follow', 'until it has ended')
    .option('--json', 'as JSON lines')
    .action((job: string, flags: JsonFlag & { readonly follow?: boolean }) =>
      running((options) => tailJob(options, job, flags, asJson(flags))),
    )
  jobs
    .command('kill')
    .description('end a job with everything that it has started')
    .argument('<JOB>', 'its job id, or its pid')
    .option('--grace <SECONDS>', 'how long it may take to end by itself, 0-30 (default: 10)')
    .option('--json', 'as JSON')
    .action((job: string, flags: JsonFlag & { readonly grace?: string }) =>
      running((options) => killJob(options, job, flags, asJson(flags))),
    )
  jobs
    .command('clean')
    .description('forget jobs that have ended')
    .option('--older-than <HOURS>', 'only those that ended so long ago')
    .option('--status <STATUS>', 'only these: completed, failed')
    .option('--delete-logs', 'delete their prompts and output too')
    .option('--json', 'as JSON')
    .action((flags: JsonFlag & CleanFlags) => running((options) => cleanJobs(options, flags, asJson(flags))))
  jobs.allowExcessArguments()
}

/** Runs a command line; resolves to the exit code: 0 done, 1 failed, 2 not understood. */
export const runCli = async (args: readonly string[]): Promise<number> => {
  let code = 0
  try {
    await buildProgram((value) => (code = value)).parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    if (!(error instanceof UsageError)) throw error
    process.stderr.write(oneLine(`codex-thread-bridge: ${error.message}; see --help`))
    return 2
  }
}
