import { accepted, endsAt, impossible, lasting, passing, under, type Row } from './cells.ts'
import type { PlaceName } from './places.ts'

const NO_GIT = impossible('no Git command runs here')
const ONCE = impossible('the version is asked for once, before anything is made')
const NOT_YET = impossible('there is no checkout yet')
const OURS = impossible('nothing is made in the parent any more')

const validating = endsAt('validating')
const reserve = endsAt('reserve')
const add = endsAt('add')
const checkout = endsAt('checkout')

/** A look at the worktree: in no journal, and whatever differs ends the launch. */
const look = (name: 'checking' | 'dispatch', next: string) => {
  const { failed, interrupted } = endsAt(name)
  return {
    ...under(['fails', 'failsActed', 'gitMissing', 'sourceRemoved'], failed('git_failed', 'whole')),
    ...under(['hangs', 'hangsActed'], failed('git_timeout', 'whole')),
    gitTooOld: ONCE,
    // It writes nothing and takes no lock.
    ...under(['indexLocked', 'noSpace', 'otherLaunch', 'cancelled'], accepted),
    readOnlyParent: OURS,
    parentSwapped: failed('checkout_changed', 'whole'),
    ...under(
      ['appears', 'dirtied', 'otherHead', 'branched', 'unlocked'],
      failed('checkout_changed', 'changed'),
    ),
    removed: failed('checkout_changed', 'gone'),
    ...under(
      ['bridgeKilledBefore', 'bridgeKilledDuring', 'bridgeKilledAfter', 'bothKilled'],
      interrupted('whole'),
    ),
    diskFullBefore: failed('ledger_full', 'whole'),
    diskFullAfter: failed('ledger_full', 'whole', next),
  } satisfies Row
}

const dispatch = look('dispatch', 'dispatching_initial_prompt')

/** How every fault at every place ends, counted on the real thing. */
export const launchTable: Readonly<Record<PlaceName, Row>> = {
  validating: {
    ...under(['fails', 'failsActed'], passing('fix_call', 'invalid_source_repository')),
    ...under(['hangs', 'hangsActed'], passing('same_request_id', 'git_timeout')),
    gitMissing: passing('same_request_id', 'git_missing'),
    gitTooOld: passing('same_request_id', 'git_too_old'),
    // It writes nothing and takes no lock.
    ...under(['indexLocked', 'noSpace'], accepted),
    readOnlyParent: validating.failed(
      'invalid_destination',
      'nothing',
      'reserving_destination',
      'new_request_id',
    ),
    sourceRemoved: passing('fix_call', 'invalid_source_repository'),
    parentSwapped: passing('fix_call', 'invalid_destination'),
    ...under(['appears', 'otherLaunch'], lasting('destination_exists')),
    ...under(['dirtied', 'otherHead', 'branched', 'unlocked', 'removed'], NOT_YET),
    cancelled: passing('same_request_id', 'cancelled'),
    ...under(
      ['bridgeKilledBefore', 'bridgeKilledDuring', 'bridgeKilledAfter', 'bothKilled'],
      validating.failed('not_sent', 'nothing', 'validating', 'new_request_id'),
    ),
    ...under(['diskFullBefore', 'diskFullAfter'], passing('same_request_id', 'ledger_full')),
  },
  reserve: {
    ...under(['fails', 'failsActed', 'hangs', 'hangsActed'], NO_GIT),
    gitTooOld: ONCE,
    // The next step needs Git, or the source.
    ...under(['gitMissing', 'sourceRemoved'], reserve.failed('git_failed', 'empty', 'creating_worktree')),
    indexLocked: accepted,
    ...under(
      ['noSpace', 'readOnlyParent', 'parentSwapped'],
      reserve.failed('invalid_destination', 'nothing', undefined, 'new_request_id'),
    ),
    ...under(
      ['appears', 'otherLaunch'],
      reserve.failed('destination_exists', 'theirs', undefined, 'new_request_id'),
    ),
    ...under(['dirtied', 'otherHead', 'branched', 'unlocked', 'removed'], NOT_YET),
    cancelled: accepted,
    bridgeKilledBefore: reserve.interrupted('nothing'),
    bridgeKilledDuring: impossible('a directory is made in one act: it is before or after'),
    ...under(['bridgeKilledAfter', 'bothKilled'], reserve.interrupted('empty')),
    diskFullBefore: passing('same_request_id', 'ledger_full'),
    diskFullAfter: reserve.failed('ledger_full', 'empty', 'creating_worktree'),
  },
  add: {
    ...under(['fails', 'gitMissing', 'noSpace', 'sourceRemoved'], add.failed('git_failed', 'empty')),
    failsActed: add.failed('git_failed', 'registered'),
    hangs: add.failed('git_timeout', 'empty'),
    hangsActed: add.failed('git_timeout', 'registered'),
    gitTooOld: ONCE,
    ...under(['indexLocked', 'otherLaunch', 'cancelled'], accepted),
    readOnlyParent: OURS,
    parentSwapped: add.failed('destination_changed', 'empty'),
    appears: add.failed('git_failed', 'theirs'),
    ...under(['dirtied', 'otherHead', 'branched', 'unlocked'], NOT_YET),
    removed: add.failed('destination_changed', 'nothing'),
    bridgeKilledBefore: add.interrupted('empty'),
    ...under(['bridgeKilledDuring', 'bridgeKilledAfter', 'bothKilled'], add.interrupted('registered')),
    diskFullBefore: add.failed('ledger_full', 'empty'),
    diskFullAfter: add.failed('ledger_full', 'registered', 'checking_out_worktree'),
  },
  checkout: {
    ...under(
      // A file that could not be written whole is taken away again by Git.
      ['fails', 'gitMissing', 'indexLocked', 'noSpace', 'sourceRemoved'],
      checkout.failed('git_failed', 'registered'),
    ),
    failsActed: checkout.failed('git_failed', 'whole'),
    hangs: checkout.failed('git_timeout', 'registered'),
    hangsActed: checkout.failed('git_timeout', 'whole'),
    gitTooOld: ONCE,
    // Somebody else's file is not overwritten.
    appears: checkout.failed('git_failed', 'changed'),
    readOnlyParent: OURS,
    parentSwapped: checkout.failed('destination_changed', 'registered'),
    ...under(['otherLaunch', 'cancelled'], accepted),
    ...under(
      ['dirtied', 'otherHead', 'branched', 'unlocked'],
      checkout.failed('checkout_changed', 'changed', 'checking_worktree'),
    ),
    removed: checkout.failed('destination_changed', 'gone'),
    bridgeKilledBefore: checkout.interrupted('registered'),
    ...under(['bridgeKilledDuring', 'bridgeKilledAfter', 'bothKilled'], checkout.interrupted('whole')),
    diskFullBefore: checkout.failed('ledger_full', 'registered'),
    diskFullAfter: checkout.failed('ledger_full', 'whole', 'checking_worktree'),
  },
  checking: look('checking', 'worktree_checked'),
  dispatch: {
    ...dispatch,
    // Whether there is a thread is the App Server's to say: as under "bridge killed", once it is back.
    bothKilled: awayAtDispatch(),
  },
}

function awayAtDispatch() {
  const cell = endsAt('dispatch').interrupted('whole')
  return { ...cell, verdict: 'unreachable', after: cell.told }
}
