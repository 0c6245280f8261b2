import fc from 'fast-check'

/** Who carries a call: a host in this process, another one that soon loses patience, a server process. */
export const seats = ['patient', 'impatient', 'process'] as const
export type Seat = (typeof seats)[number]

export type IfBusy = 'refuse' | 'steer' | 'queue'

/** Numbers that name a thread or an earlier request count from the newest, around and around. */
export type Call =
  | { readonly act: 'create'; readonly seat: Seat; readonly prompt: boolean; readonly title: boolean }
  | { readonly act: 'message'; readonly seat: Seat; readonly thread: number; readonly ifBusy: IfBusy }
  | { readonly act: 'replay'; readonly seat: Seat; readonly of: number }
  | { readonly act: 'conflict'; readonly seat: Seat; readonly of: number }
  | { readonly act: 'reconcile'; readonly seat: Seat; readonly of: number }
  /** A client that is no bridge. */
  | { readonly act: 'foreign'; readonly thread: number }

/** The message at which a fault happens. */
export interface Moment {
  readonly method: string
  readonly kind: 'request' | 'response'
}

export type Fault =
  | { readonly fault: 'cut'; readonly at: Moment; readonly side: 'before' | 'after' }
  | { readonly fault: 'refuse'; readonly at: Moment }
  /** The answer comes after the impatient host gave up; it makes all calls of the step. */
  | { readonly fault: 'late answer'; readonly method: string }
  | { readonly fault: 'kill process'; readonly at: Moment }
  | {
      readonly fault: 'kill server'
      readonly at: Moment
      /** Whether the message still comes through, as one that was on its way. */
      readonly passes: boolean
      readonly restart: 'at once' | 'after the calls' | 'later'
    }

export type Step =
  | {
      readonly step: 'calls'
      readonly calls: readonly Call[]
      readonly fault?: Fault
      /** Who makes the calls with new ids once more, as one does after an uncertain answer. */
      readonly again?: Seat
    }
  | { readonly step: 'busy'; readonly thread: number }
  | { readonly step: 'release' }
  | { readonly step: 'cut' }
  | { readonly step: 'server'; readonly to: 'down' | 'restarted' }
  | { readonly step: 'bridge'; readonly seat: Seat }

export interface Schedule {
  readonly steps: readonly Step[]
  /** Whether the App Server is killed before the truth is looked at, also when nothing else killed it. */
  readonly crashAtEnd: boolean
}

/** Some faults need the calls to come from one seat. */
export const seated = (call: Call, fault: Fault['fault']): Call => {
  if (call.act === 'foreign') return call
  if (fault === 'late answer') return { ...call, seat: 'impatient' }
  return fault === 'kill process' ? { ...call, seat: 'process' } : call
}

const seat = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Seat>('patient') },
  { weight: 4, arbitrary: fc.constant<Seat>('impatient') },
  { weight: 3, arbitrary: fc.constant<Seat>('process') },
)
const which = fc.nat(5)

const create = fc.record({
  act: fc.constant('create' as const),
  seat,
  prompt: fc.boolean(),
  title: fc.boolean(),
})
const message = fc.record({
  act: fc.constant('message' as const),
  seat,
  thread: which,
  ifBusy: fc.constantFrom<IfBusy[]>('refuse', 'steer', 'queue'),
})
const replay = fc.record({ act: fc.constant('replay' as const), seat, of: which })
const conflict = fc.record({ act: fc.constant('conflict' as const), seat, of: which })
const reconcile = fc.record({ act: fc.constant('reconcile' as const), seat, of: which })
const foreign = fc.record({ act: fc.constant('foreign' as const), thread: which })

const call: fc.Arbitrary<Call> = fc.oneof(
  { weight: 3, arbitrary: create },
  { weight: 9, arbitrary: message },
  { weight: 4, arbitrary: replay },
  { weight: 2, arbitrary: conflict },
  { weight: 3, arbitrary: reconcile },
  { weight: 2, arbitrary: foreign },
)

const moment: fc.Arbitrary<Moment> = fc.record({
  method: fc.constantFrom(
    'thread/start',
    'thread/section/move',
    'thread/settings/update',
    'thread/name/set',
    'thread/read',
    'thread/resume',
    'turn/start',
    'turn/start',
    'turn/start',
    'turn/steer',
    'thread/queue/add',
    'thread/items/list',
    'thread/unsubscribe',
  ),
  kind: fc.constantFrom('request' as const, 'response' as const),
})

const mutating = fc.constantFrom(
  'thread/start',
  'thread/settings/update',
  'thread/resume',
  'turn/start',
  'turn/steer',
  'thread/queue/add',
)

const fault: fc.Arbitrary<Fault> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      fault: fc.constant('cut' as const),
      at: moment,
      side: fc.constantFrom('before' as const, 'after' as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      fault: fc.constant('refuse' as const),
      at: fc.record({ method: mutating, kind: fc.constant('request' as const) }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ fault: fc.constant('late answer' as const), method: mutating }) },
  { weight: 2, arbitrary: fc.record({ fault: fc.constant('kill process' as const), at: moment }) },
  {
    weight: 3,
    arbitrary: fc.record({
      fault: fc.constant('kill server' as const),
      at: moment,
      passes: fc.boolean(),
      restart: fc.constantFrom('at once' as const, 'after the calls' as const, 'later' as const),
    }),
  },
)

const calls = fc.record(
  {
    step: fc.constant('calls' as const),
    calls: fc.array(call, { minLength: 1, maxLength: 3 }),
    fault,
    again: seat,
  },
  { requiredKeys: ['step', 'calls'] },
)
const quietCalls = fc.record({
  step: fc.constant('calls' as const),
  calls: fc.array(call, { minLength: 1, maxLength: 2 }),
})

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 10, arbitrary: calls },
  { weight: 8, arbitrary: quietCalls },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('busy' as const), thread: which }) },
  { weight: 2, arbitrary: fc.constant<Step>({ step: 'release' }) },
  { weight: 1, arbitrary: fc.constant<Step>({ step: 'cut' }) },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('server' as const),
      to: fc.constantFrom('down' as const, 'restarted' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('bridge' as const), seat }) },
)

/** Everything that may happen, as plain data: a counterexample can be read. */
export const schedules: fc.Arbitrary<Schedule> = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 7 }),
  crashAtEnd: fc.oneof(
    { weight: 7, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
})
