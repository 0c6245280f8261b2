import {
  asBridgeError,
  type AppServer,
  type BridgeError,
  type ServerInfo,
} from '@codex-thread-bridge/core/contract'
import type { HostDescription } from '@codex-thread-bridge/core/host'
import { testedVersions } from '../../tested-versions.ts'
import { fail, ok, quoted, warn, type Check } from './check.ts'

const startCommand = (path: string): string => `codex app-server --listen unix://${quoted(path)}`

const otherSocket = (path: string): string =>
  `ls -l ${quoted(path)} # then pass --socket with the App Server's own socket`

/** What to type next, by what is wrong with the socket itself. */
const socketSteps: ReadonlyMap<string, (path: string) => string> = new Map([
  ['socket_absent', startCommand],
  ['socket_stale', startCommand],
  ['socket_forbidden', (path) => `ls -l ${quoted(path)} # then run the bridge as its owner`],
  [
    'socket_path_too_long',
    () => 'codex app-server --listen unix:///tmp/codex.sock # and --socket /tmp/codex.sock',
  ],
  ['socket_wrong_type', otherSocket],
  ['socket_not_websocket', otherSocket],
])

const unreachable = ({ socket }: AppServer, { code, message, hint }: BridgeError): readonly Check[] => {
  const step = socketSteps.get(code)
  if (step !== undefined) return [fail('socket', `${message} (${code})`, step(socket.configured))]
  return [ok('socket', socket.configured), fail('handshake', `${message} (${code})`, hint)]
}

/** Order of two versions by their numbers; what stands behind a dash does not count. */
const compareVersions = (a: string, b: string): number => {
  const numbersOf = (version: string): readonly number[] =>
    (version.split('-')[0] ?? '').split('.').map(Number)
  const other = numbersOf(b)
  return numbersOf(a).reduce((order, number, place) => order || number - (other[place] ?? 0), 0)
}

const checkVersion = ({ version }: ServerInfo): Check => {
  const oldest = testedVersions[0]
  const newest = testedVersions[testedVersions.length - 1] ?? oldest
  const tested = `the tested versions are ${oldest} to ${newest}`
  if (compareVersions(version, oldest) < 0)
    return warn('version', `Codex ${version}; ${tested}`, 'codex update')
  if (compareVersions(version, newest) > 0)
    return warn(
      'version',
      `Codex ${version}; ${tested}`,
      'codex-thread-bridge --version; then update the bridge',
    )
  return ok('version', `Codex ${version}; ${tested}`)
}

const checkMethods = async (appServer: AppServer, { methodsNeeded }: HostDescription): Promise<Check> => {
  const missing = await appServer.missingMethods(methodsNeeded)
  return missing.length === 0
    ? ok('methods', `all ${String(methodsNeeded.length)} that the tools use`)
    : warn('methods', `the App Server lacks ${missing.join(', ')}`, 'codex update')
}

export interface ServerChecks {
  readonly checks: readonly Check[]
  /** CODEX_HOME as the App Server has it; null when it cannot be asked or does not say. */
  readonly codexHome: string | null
}

/** Socket, handshake, version and methods: connects, and asks nothing that changes anything. */
export const checkServer = async (description: HostDescription): Promise<ServerChecks> => {
  const { appServer } = description
  try {
    const server = await appServer.reads.connect()
    const checks = [
      ok('socket', appServer.socket.configured),
      ok('handshake', server.userAgent),
      checkVersion(server),
      await checkMethods(appServer, description),
    ]
    return { checks, codexHome: server.codexHome }
  } catch (error) {
    return { checks: unreachable(appServer, asBridgeError(error)), codexHome: null }
  }
}
