import { WebSocket } from 'ws'
import { createLane } from './lane.ts'
import { createClassifier, type Direction, type LoggedMessage, type MessageId } from './message.ts'
import { type ActiveRule, actionName, type Answer } from './rule.ts'

export interface LinkOptions {
  readonly connection: number
  /** The bridge's end. */
  readonly client: WebSocket
  /** The App Server's end. */
  readonly server: WebSocket
  readonly record: (logged: LoggedMessage) => void
  /** The rule that applies to a message. */
  readonly ruleFor: (logged: LoggedMessage) => ActiveRule | undefined
}

export interface Link {
  readonly open: boolean
  /** Ends both connections without a close frame. */
  cut(): void
}

type Logged = { -readonly [K in keyof LoggedMessage]: LoggedMessage[K] }

/** Joins two open WebSockets and lets every message between them pass the rules. */
export function joinSockets({ connection, client, server, record, ruleFor }: LinkOptions): Link {
  const lanes = { 'to-server': createLane(), 'to-client': createLane() }
  const targets = { 'to-server': server, 'to-client': client }
  const classify = createClassifier()
  /** After a cut behind a request: the request whose answer the server's end still waits for. */
  let cutBehind: { readonly id: MessageId | undefined } | undefined

  function cut(): void {
    client.terminate()
    server.terminate()
  }
  function cutAfter(logged: LoggedMessage): void {
    if (logged.kind !== 'request') return afterFlush(targets[logged.direction], cut)
    cutBehind = { id: logged.id }
    client.terminate()
  }

  function receive(direction: Direction, data: Buffer, binary: boolean): void {
    const logged: Logged = {
      at: Date.now(),
      connection,
      direction,
      ...classify(direction, data.toString()),
      action: 'forward',
      deliveries: 0,
    }
    if (cutBehind) {
      logged.action = 'lost'
      record(logged)
      if (logged.kind === 'response' && logged.id === cutBehind.id) server.terminate()
      return
    }
    const rule = ruleFor(logged)
    if (rule) logged.action = actionName(rule.action)
    record(logged)
    apply(rule, logged, data, binary)
  }

  function apply(rule: ActiveRule | undefined, logged: Logged, data: Buffer, binary: boolean): void {
    const lane = lanes[logged.direction]
    const send = (payload: Buffer | string) => {
      if (targets[logged.direction].readyState !== WebSocket.OPEN) return
      targets[logged.direction].send(payload, { binary })
      logged.deliveries += 1
    }
    const forward = () => send(data)
    if (!rule) return lane.push(forward)
    rule.fire(logged)
    const { action } = rule

    if (action === 'drop') return
    if (action === 'withhold') return rule.keep(() => lane.push(forward))
    if (action === 'delay') rule.keep(lane.block())
    else if (action === 'freeze') for (const each of Object.values(lanes)) rule.keep(each.block())
    else if (action === 'duplicate') lane.push(forward)
    else if ('delayMs' in action) setTimeout(lane.block(), action.delayMs)
    else if ('rewrite' in action) return lane.push(() => send(JSON.stringify(action.rewrite(logged.message))))
    else if ('respond' in action) return answer(logged, action.respond)
    else if (action.cut === 'before') return lane.push(cut)
    else return lane.push(() => (forward(), cutAfter(logged)))
    lane.push(forward)
  }

  function answer(
    { direction, id, message }: LoggedMessage,
    respond: Answer | ((request: unknown) => Answer),
  ): void {
    const back = direction === 'to-server' ? 'to-client' : 'to-server'
    const content = typeof respond === 'function' ? respond(message) : respond
    lanes[back].push(() => targets[back].send(JSON.stringify({ id, ...content })))
  }

  for (const [socket, direction] of [[client, 'to-server'] as const, [server, 'to-client'] as const]) {
    socket.on('message', (data: Buffer, binary) => receive(direction, data, binary))
    socket.on('error', () => undefined)
    socket.once('close', (code, reason) => {
      if (!(cutBehind && socket === client))
        lanes[direction].push(() => mirrorClose(targets[direction], code, reason))
    })
  }
  return {
    get open() {
      return client.readyState === WebSocket.OPEN
    },
    cut,
  }
}

/** Lets what was sent so far reach the kernel first. */
function afterFlush(socket: WebSocket, act: () => void): void {
  if (socket.readyState === WebSocket.OPEN) socket.ping(undefined, undefined, act)
  else act()
}

function mirrorClose(target: WebSocket, code: number, reason: Buffer): void {
  if (code === 1006) target.terminate()
  else if (code === 1005) target.close()
  else target.close(code, reason)
}
