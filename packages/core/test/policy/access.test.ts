import { describe, expect, it } from 'vitest'
import { accessOfEnvironment, accessOfParams } from '../../src/policy/access.ts'

const wholeSettings = {
  writable_roots: ['/data'],
  network_access: true,
  exclude_tmpdir_env_var: false,
  exclude_slash_tmp: true,
}
const wholePolicy = {
  type: 'workspaceWrite',
  writableRoots: ['/data'],
  networkAccess: true,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: true,
}
const workspaceWrite = {
  type: 'workspaceWrite',
  writableRoots: [],
  networkAccess: false,
  excludeTmpdirEnvVar: false,
  excludeSlashTmp: false,
}
const readOnly = { type: 'readOnly', networkAccess: false }
const full = { type: 'dangerFullAccess' }

describe('the access that parameters name', () => {
  it.each([
    ['no access', {}, []],
    ['a built-in profile', { permissions: ':workspace' }, [{ policy: workspaceWrite }]],
    ['another profile', { permissions: 'mine' }, [{ unknown: 'the permission profile "mine"' }]],
    ['a sandbox name', { sandbox: 'read-only' }, [{ policy: readOnly }]],
    [
      'a sandbox name with all its settings',
      { sandbox: 'workspace-write', config: { sandbox_workspace_write: wholeSettings } },
      [{ policy: wholePolicy }],
    ],
    [
      'a sandbox name that inherits settings',
      { sandbox: 'workspace-write', config: { sandbox_workspace_write: { network_access: false } } },
      [{ unknown: 'workspace-write with settings of the App Server’s configuration' }],
    ],
    ['a sandbox of another name', { sandbox: 'external' }, [{ unknown: 'the sandbox "external"' }]],
    ['a whole policy', { sandboxPolicy: wholePolicy }, [{ policy: wholePolicy }]],
    [
      'a policy with a member that is not known',
      { sandboxPolicy: { ...readOnly, gpuAccess: true } },
      [{ unknown: 'the sandbox {"type":"readOnly","networkAccess":false,"gpuAccess":true}' }],
    ],
    [
      'several forms, of which each counts',
      { permissions: ':read-only', sandboxPolicy: full },
      [{ policy: readOnly }, { policy: full }],
    ],
    [
      'a setting that could widen it',
      { permissions: ':read-only', config: { model_reasoning_effort: 'high', mcp_servers: {} } },
      [{ policy: readOnly }, { unknown: 'the setting "mcp_servers"' }],
    ],
    [
      'a setting in the dotted form',
      { permissions: ':read-only', config: { 'sandbox_workspace_write.network_access': true } },
      [{ policy: readOnly }, { unknown: 'the setting "sandbox_workspace_write.network_access"' }],
    ],
  ])('is told from %s', (_, params, accesses) => {
    expect(accessOfParams(params).accesses).toEqual(accesses)
  })

  it('comes with every directory that they name', () => {
    const params = {
      cwd: '/work',
      runtimeWorkspaceRoots: ['/tree'],
      sandbox: 'workspace-write',
      config: { sandbox_workspace_write: wholeSettings },
    }
    expect(accessOfParams(params).directories).toEqual(['/work', '/tree', '/data'])
  })
})

describe('the access of a thread as the App Server reports it', () => {
  const environment = {
    thread: { id: 't', cwd: '/link', status: { type: 'idle' } },
    cwd: '/work',
    model: 'm',
    approvalPolicy: 'never',
  }
  it.each([
    ['a policy without a profile', { sandbox: readOnly }, [{ policy: readOnly }]],
    ['a policy in another spelling', { sandbox: { type: 'read-only' } }, [{ policy: readOnly }]],
    [
      'a built-in profile',
      { sandbox: workspaceWrite, activePermissionProfile: { id: ':workspace' } },
      [{ policy: workspaceWrite }],
    ],
    [
      'a built-in profile that does not agree with the sandbox in force',
      { sandbox: full, activePermissionProfile: { id: ':read-only' } },
      [{ policy: full }],
    ],
    [
      'another profile, whatever sandbox it is told as',
      { sandbox: readOnly, activePermissionProfile: { id: 'mine' } },
      [{ unknown: 'the permission profile "mine"' }],
    ],
    [
      'a sandbox that is not known',
      { sandbox: { type: 'externalSandbox', networkAccess: 'restricted' } },
      [{ unknown: 'the sandbox {"type":"externalSandbox","networkAccess":"restricted"}' }],
    ],
  ])('is told from %s', (_, part, accesses) => {
    expect(accessOfEnvironment({ ...environment, ...part }).accesses).toEqual(accesses)
  })

  it('comes with every directory that it has', () => {
    const named = accessOfEnvironment({
      ...environment,
      sandbox: wholePolicy,
      runtimeWorkspaceRoots: ['/work', '/tree'],
    })
    expect(named.directories).toEqual(['/work', '/link', '/work', '/tree', '/data'])
  })
})
