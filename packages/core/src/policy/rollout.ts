import { open, type FileHandle } from 'node:fs/promises'
import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import { normaliseSandbox } from '../protocol/sandbox.ts'
import { sandboxOfPermissions } from './permission-entries.ts'
import type { EnvironmentRecord } from './recorded.ts'

const REACH_BYTES = 8 * 1024 * 1024
const CHUNK_BYTES = 64 * 1024
const NEWLINE = 0x0a

const Nullable = (type: ReturnType<typeof Type.String>) => Type.Optional(Type.Union([type, Type.Null()]))
const common = {
  cwd: Type.String(),
  approval_policy: Type.Union([Type.String(), Type.Object({})]),
  approvals_reviewer: Nullable(Type.String()),
  model: Type.String(),
  active_permission_profile: Type.Optional(Type.Union([Type.Object({ id: Type.String() }), Type.Null()])),
}

/** What a turn ran under. */
const turnContext = Compile(
  Type.Object({
    timestamp: Type.String(),
    type: Type.Literal('turn_context'),
    payload: Type.Object({
      ...common,
      sandbox_policy: Type.Object({ type: Type.String() }),
      effort: Nullable(Type.String()),
    }),
  }),
)

/** What `thread/settings/update` wrote, and from 0.163 on also each turn and a resume that changed something. */
const settingsApplied = Compile(
  Type.Object({
    timestamp: Type.String(),
    type: Type.Literal('event_msg'),
    payload: Type.Object({
      type: Type.Literal('thread_settings_applied'),
      thread_settings: Type.Object({
        ...common,
        permission_profile: Type.Object({ type: Type.String() }),
        reasoning_effort: Nullable(Type.String()),
      }),
    }),
  }),
)

/** The record that a line of a rollout holds, if it holds one. */
export const recordOfLine = (line: string): EnvironmentRecord | undefined => {
  if (!line.includes('"turn_context"') && !line.includes('"thread_settings_applied"')) return undefined
  let parsed: unknown
  try {
    parsed = JSON.parse(line)
  } catch {
    return undefined
  }
  if (turnContext.Check(parsed)) {
    const { payload } = parsed
    return {
      source: 'turn_context',
      at: Date.parse(parsed.timestamp),
      sandbox: normaliseSandbox(payload.sandbox_policy),
      whole: true,
      cwd: payload.cwd,
      approvalPolicy: payload.approval_policy,
      approvalsReviewer: payload.approvals_reviewer ?? null,
      model: payload.model,
      reasoningEffort: payload.effort ?? null,
      profile: payload.active_permission_profile?.id ?? null,
    }
  }
  if (!settingsApplied.Check(parsed)) return undefined
  const settings = parsed.payload.thread_settings
  return {
    source: 'settings',
    at: Date.parse(parsed.timestamp),
    ...sandboxOfPermissions(settings.permission_profile, settings.cwd),
    cwd: settings.cwd,
    approvalPolicy: settings.approval_policy,
    approvalsReviewer: settings.approvals_reviewer ?? null,
    model: settings.model,
    reasoningEffort: settings.reasoning_effort ?? null,
    profile: settings.active_permission_profile?.id ?? null,
  }
}

/**
 * The environment records at the end of a rollout, oldest first: its last turn_context and what was applied after it.
 * Reads backwards, at most 8 MiB, complete lines only; nothing when the file cannot be read.
 */
export const rolloutRecords = async (
  path: string | null | undefined,
): Promise<readonly EnvironmentRecord[]> => {
  if (path === null || path === undefined) return []
  const file = await open(path, 'r').catch(() => undefined)
  if (file === undefined) return []
  try {
    return await lastRecords(file)
  } catch {
    return []
  } finally {
    await file.close()
  }
}

/** The complete lines of a file, last first, as far back as 8 MiB; what stands behind its last newline is no line yet. */
async function* linesBackwards(file: FileHandle, size: number): AsyncGenerator<string> {
  let pending: Buffer[] = []
  let sawNewline = false
  for (let end = size; end > 0 && size - end < REACH_BYTES;) {
    const begin = Math.max(0, end - CHUNK_BYTES)
    const chunk = Buffer.alloc(end - begin)
    await file.read(chunk, 0, chunk.length, begin)
    let lineEnd = chunk.length
    for (let at = chunk.lastIndexOf(NEWLINE); at >= 0; at = chunk.subarray(0, at).lastIndexOf(NEWLINE)) {
      if (sawNewline) yield Buffer.concat([chunk.subarray(at + 1, lineEnd), ...pending]).toString('utf8')
      sawNewline = true
      pending = []
      lineEnd = at
    }
    pending = [chunk.subarray(0, lineEnd), ...pending]
    end = begin
    if (end === 0 && sawNewline) yield Buffer.concat(pending).toString('utf8')
  }
}

const lastRecords = async (file: FileHandle): Promise<readonly EnvironmentRecord[]> => {
  const stats = await file.stat()
  if (!stats.isFile()) return []
  const found: EnvironmentRecord[] = []
  for await (const line of linesBackwards(file, stats.size)) {
    const record = recordOfLine(line)
    if (record !== undefined) found.unshift(record)
    if (record?.source === 'turn_context') break
  }
  return found
}
