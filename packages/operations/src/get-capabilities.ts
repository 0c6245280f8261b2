import { asBridgeError, defineRead, type ServerInfo } from '@codex-thread-bridge/core/contract'
import type { HostDescription, OperationsPort } from '@codex-thread-bridge/core/host'
import { Type, type Static } from 'typebox'

/** What the app says of itself. */
export interface About {
  readonly version: string
  /** Codex versions that this build was tested with. */
  readonly testedVersions: readonly string[]
}

const Diagnosis = Type.Object({ code: Type.String(), message: Type.String(), hint: Type.String() })
type Diagnosis = Static<typeof Diagnosis>

const Names = Type.Array(Type.String())

const Output = Type.Object({
  bridgeVersion: Type.String(),
  connected: Type.Boolean(),
  diagnosis: Type.Optional(Diagnosis),
  server: Type.Optional(Type.Object({ version: Type.String(), userAgent: Type.String() })),
  transport: Type.String(),
  socket: Type.Object({ configured: Type.String(), resolved: Type.String() }),
  ledger: Type.Object({
    path: Type.Optional(Type.Union([Type.String(), Type.Null()])),
    operations: Type.Optional(Type.Integer()),
    uncertain: Type.Optional(Type.Integer()),
    error: Type.Optional(Diagnosis),
  }),
  capabilities: Type.Record(Type.String(), Type.Boolean()),
  plugins: Type.Array(Type.Object({ name: Type.String(), version: Type.String(), tools: Names })),
  appServerMethods: Type.Object({ needed: Names, missing: Type.Optional(Names) }),
  ceiling: Type.Object({
    maxSandbox: Type.String(),
    allowRoots: Names,
    network: Type.Boolean(),
    escalation: Type.Boolean(),
  }),
  limits: Type.Object({ callMs: Type.Number(), resultBytes: Type.Number() }),
  testedVersions: Names,
})

const diagnosisOf = (error: unknown): Diagnosis => {
  const { code, message, hint } = asBridgeError(error)
  return { code, message, hint }
}

const capabilitiesOf = ({ plugins, policy }: HostDescription): Record<string, boolean> => {
  const tools = new Set(plugins.flatMap((plugin) => plugin.tools.map(({ name }) => name)))
  return {
    createThread: tools.has('create_thread'),
    sendMessage: tools.has('send_message_to_thread'),
    listReadWait: ['list_threads', 'read_thread', 'wait_thread'].every((name) => tools.has(name)),
    goalRead: tools.has('get_goal'),
    goalSet: false,
    bridgeManagedWorktrees: tools.has('create_worktree_thread'),
    desktopManagedWorktrees: false,
    desktopProjectRegistry: false,
    clientSideToolsAndApprovals: false,
    reconcile: tools.has('get_operation'),
    deliveryMarkers: policy.deliveryMarkers,
  }
}

/** The server and what it lacks, or why there is none. */
const lookAtServer = async ({ appServer, methodsNeeded }: HostDescription) => {
  const needed = [...methodsNeeded]
  try {
    const server: ServerInfo = await appServer.reads.connect()
    const missing = [...(await appServer.missingMethods(methodsNeeded))]
    return { connected: true, server: { ...server }, appServerMethods: { needed, missing } }
  } catch (error) {
    return { connected: false, diagnosis: diagnosisOf(error), appServerMethods: { needed } }
  }
}

/** get_capabilities (contract: bridge-tools, operations). */
export const getCapabilities = (operations: OperationsPort, about: About) =>
  defineRead({
    name: 'get_capabilities',
    title: 'Get the capabilities of the bridge',
    description:
      'Says what this bridge can do here and now: whether it reaches the Codex App Server and which version that is, the socket, where the ledger of receipts is and how many operations are uncertain, the loaded plugins and tools, App Server methods that are missing, the operator’s ceiling on what may be started, limits, and the Codex versions that the bridge was tested with. Never an error: without a server connected is false and diagnosis says why and what to do; a ledger that cannot be opened says so in ledger.error. Call it first when other tools fail.',
    input: Type.Object({}, { additionalProperties: false }),
    output: Output,
    uses: [],
    examples: [{ input: {}, answers: {} }],

    async run() {
      const host = operations.describe()
      const [found, ledger] = await Promise.all([
        lookAtServer(host),
        operations.ledger().catch((error: unknown) => ({ error: diagnosisOf(error) })),
      ])
      return {
        bridgeVersion: about.version,
        ...found,
        transport: 'unix-websocket',
        socket: { ...host.appServer.socket },
        ledger,
        capabilities: capabilitiesOf(host),
        plugins: host.plugins.map(({ name, version, tools }) => ({
          name,
          version,
          tools: tools.map((tool) => tool.name).sort(),
        })),
        ceiling: { ...host.policy.ceiling, allowRoots: [...host.policy.ceiling.allowRoots] },
        limits: { ...host.limits },
        testedVersions: [...about.testedVersions],
      }
    },
  })
