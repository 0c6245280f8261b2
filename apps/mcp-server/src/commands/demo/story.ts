import { ExpectationFailed, type Narrator } from './narrator.ts'
import type { Fixtures, Stage } from './stage.ts'

type Answer = Readonly<Record<string, unknown>>

const FIRST = 'Name the three primary colours.'
const FIRST_ANSWER = 'Red, yellow and blue.'
const FOLLOW_UP = 'And what do red and yellow make?'
const LOST = 'Which one is the colour of the sky?'

/** Plays the story to its end. @throws ExpectationFailed at the first expectation that does not hold */
export const playStory = async (
  { at, textAt }: Fixtures,
  stage: Stage,
  { scene, tell, expect }: Narrator,
): Promise<void> => {
  const { model, proxy, cwd } = stage.world

  const call = async (tool: string, args: Answer): Promise<Answer> => {
    const { structured, error } = await stage.bridge.call(tool, args)
    if (structured !== undefined) return structured
    throw new ExpectationFailed(
      `${tool} answers (${error?.code ?? 'no error'}: ${error?.message ?? 'no text'})`,
    )
  }
  const turnsStarted = (): number => proxy.sent('turn/start').length
  const expectEnd = async (receipt: Answer): Promise<void> => {
    const ids = { thread_id: textAt(receipt, 'threadId'), turn_id: textAt(receipt, 'turnId') }
    const waited = await call('wait_thread', { ...ids, timeout_seconds: 20 })
    expect('the turn is completed', at(waited, 'turn.status') === 'completed', at(waited, 'turn'))
  }

  model.when(FIRST, { text: FIRST_ANSWER })
  model.when(FOLLOW_UP, { text: 'Orange.' })
  model.when(LOST, { text: 'Blue.' })

  scene('The bridge looks at its App Server')
  const capabilities = await call('get_capabilities', {})
  expect('it is connected', capabilities.connected === true, capabilities)

  scene('Create a thread with a title and a prompt')
  const creation = { request_id: 'demo-create', cwd, title: 'Colours', prompt: FIRST }
  tell(`create_thread ${JSON.stringify({ title: creation.title, prompt: FIRST })}`)
  const created = await call('create_thread', creation)
  expect('the receipt says accepted', created.status === 'accepted', created)
  expect('its sandbox is what was asked for', at(created, 'verifiedEnvironment.matches') === true, created)
  expect('the thread outlives a restart of the App Server', created.durable === true, created)
  await expectEnd(created)
  const threadId = textAt(created, 'threadId')

  scene('Read what it said')
  const read = await call('read_thread', { thread_id: threadId })
  expect(`the thread holds "${FIRST_ANSWER}"`, JSON.stringify(read).includes(FIRST_ANSWER))

  scene('Send a second message')
  const followUp = { request_id: 'demo-follow-up', thread_id: threadId, message: FOLLOW_UP }
  tell(`send_message_to_thread ${JSON.stringify(FOLLOW_UP)}`)
  const sent = await call('send_message_to_thread', followUp)
  expect('the receipt says accepted', sent.status === 'accepted', sent)
  await expectEnd(sent)

  scene('Repeat it under the same request_id, as a client does that missed the answer')
  const before = turnsStarted()
  const repeated = await call('send_message_to_thread', followUp)
  expect(
    'the same receipt comes back as a replay',
    repeated.replayed === true && repeated.turnId === sent.turnId,
  )
  expect('nothing was sent to the App Server', turnsStarted() === before, turnsStarted())

  scene('Lose an answer: the connection is cut behind the next turn/start')
  proxy.on({ direction: 'to-server', kind: 'request', method: 'turn/start' }, { cut: 'after' })
  const lost = { request_id: 'demo-lost', thread_id: threadId, message: LOST }
  const uncertain = await call('send_message_to_thread', lost)
  expect('the receipt admits outcome_unknown', uncertain.status === 'outcome_unknown', uncertain)
  expect('and says what to do: reconcile', uncertain.next === 'reconcile', uncertain.next)

  scene('Find the truth with read-only calls')
  // The App Server may still be writing it down: then the receipt stays uncertain, and is asked again.
  let found = await call('get_operation', { request_id: lost.request_id, reconcile: true })
  for (let again = 0; again < 50 && found.status === 'outcome_unknown'; again += 1)
    found = await call('get_operation', { request_id: lost.request_id, reconcile: true })
  expect('the message had arrived: accepted', found.status === 'accepted', found)
  expect('it was found, not sent again', turnsStarted() === before + 1, turnsStarted())
  await expectEnd(found)

  scene('Kill the bridge with SIGKILL and start it again')
  await stage.restart()
  const remembered = await call('get_operation', { request_id: creation.request_id })
  expect('it still knows the thread it created', remembered.threadId === threadId, remembered)
  const replayed = await call('create_thread', creation)
  expect(
    'and does not create it again',
    replayed.replayed === true && replayed.threadId === threadId,
    replayed,
  )
  expect('one thread was started in all', proxy.sent('thread/start').length === 1)
}
