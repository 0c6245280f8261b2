import { Type } from 'typebox'
import { Compile } from 'typebox/compile'
import type { EnvironmentRecord } from './recorded.ts'

const managed = Compile(
  Type.Object({
    type: Type.Literal('managed'),
    network: Type.String(),
    file_system: Type.Object({
      type: Type.Literal('restricted'),
      entries: Type.Array(Type.Object({ access: Type.String() })),
    }),
  }),
)
const pathEntry = Compile(
  Type.Object({
    path: Type.Object({ type: Type.Literal('path'), path: Type.String() }),
    access: Type.Literal('write'),
  }),
)
const specialEntry = Compile(
  Type.Object({
    path: Type.Object({ type: Type.Literal('special'), value: Type.Object({ kind: Type.String() }) }),
    access: Type.Literal('write'),
  }),
)

type Access = Pick<EnvironmentRecord, 'sandbox' | 'whole'>

/**
 * The sandbox that a rollout's permission profile amounts to: whole when every writable place is of a kind we know,
 * else its type and network alone. A profile of an unknown type equals no sandbox, so that a comparison fails.
 */
export const sandboxOfPermissions = (profile: { readonly type: string }, cwd: string): Access => {
  if (profile.type === 'disabled') return { sandbox: { type: 'dangerFullAccess' }, whole: true }
  if (!managed.Check(profile)) return { sandbox: { type: `unknown:${profile.type}` }, whole: true }
  const networkAccess = profile.network === 'enabled'
  const writable = profile.file_system.entries.filter(({ access }) => access === 'write')
  if (writable.length === 0) return { sandbox: { type: 'readOnly', networkAccess }, whole: true }
  const paths = writable.filter((entry) => pathEntry.Check(entry)).map((entry) => entry.path.path)
  const kinds = writable.filter((entry) => specialEntry.Check(entry)).map((entry) => entry.path.value.kind)
  const known = kinds.every((kind) => kind === 'slash_tmp' || kind === 'tmpdir')
  if (!known || paths.length + kinds.length < writable.length)
    return { sandbox: { type: 'workspaceWrite', networkAccess }, whole: false }
  return {
    sandbox: {
      type: 'workspaceWrite',
      writableRoots: [...new Set(paths)].filter((path) => path !== cwd),
      networkAccess,
      excludeTmpdirEnvVar: !kinds.includes('tmpdir'),
      excludeSlashTmp: !kinds.includes('slash_tmp'),
    },
    whole: true,
  }
}
