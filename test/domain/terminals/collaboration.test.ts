import t from 'tap';
import {
  byPermission,
  type Collaboration,
  type CollaborationEvent,
  decideCollaboration,
  minutesFaults,
  participantSession,
} from '../../../src/domain/terminals/collaboration.ts';
import { valuesOf } from '../../support/values.ts';

const at = (minute: number): Date => new Date(Date.UTC(2026, 0, 1, 0, minute));
const [OWNER, BOB, EVE] = ['owner', 'bob', 'eve'] as const;

const live = (over: Partial<Collaboration> = {}): Collaboration => ({
  id: 'c',
  dbId: 'box',
  ownerId: OWNER,
  mode: 'control',
  createdAt: at(0),
  expiresAt: at(60),
  endedAt: null,
  participants: [{ userId: BOB, username: 'bob', joinedAt: at(1) }],
  removed: [],
  ...over,
});
const view = live({ mode: 'view' });
const empty = live({ participants: [] });
const ended = live({ endedAt: at(2), participants: [] });

const join = (userId: string, minute = 5) => ({ type: 'join', userId, now: at(minute) }) as const;
const remove = (userId: string) => ({ type: 'delete', userId }) as const;
const putOut = (userId: string, by: string = OWNER) => ({ type: 'put_out', by, userId }) as const;
const over = { type: 'time_over' } as const;

const NOT_FOUND = 'collaboration_not_found';
const PUT_OUT = 'put_out bob, record collaboration_participant_removed owner bob, announce';
const LEFT = 'dismiss bob, record collaboration_left bob, announce';
const ENDED = 'end, record collaboration_ended owner, announce';
const JOINED = 'admit bob, record collaboration_joined bob';

const CASES: readonly (readonly [string, Collaboration, CollaborationEvent, effects: string])[] = [
  ['somebody comes', empty, join(BOB), JOINED],
  ['somebody comes a second time', live(), join(BOB), ''],
  ['the owner puts somebody out', live(), putOut(BOB), `${PUT_OUT}, end_sessions bob`],
  ['the owner removes a participant who views', view, putOut(BOB), PUT_OUT],
  ['somebody who was put out comes back', live({ participants: [], removed: [BOB] }), join(BOB), NOT_FOUND],
  ['another puts somebody out', live(), putOut(BOB, EVE), NOT_FOUND],
  ['a participant puts itself out', live(), putOut(BOB, BOB), NOT_FOUND],
  ['the owner puts out who is not there', live(), putOut(EVE), NOT_FOUND],
  ['the owner puts somebody out after the end', ended, putOut(BOB), NOT_FOUND],
  ['another comes', live(), join(EVE), 'admit eve, record collaboration_joined eve'],
  ['the owner comes', live(), join(OWNER), ''],
  ['somebody comes in the last minute', empty, join(BOB, 59), JOINED],
  ['somebody comes when time is over', empty, join(BOB, 60), NOT_FOUND],
  ['somebody comes after the end', ended, join(BOB), NOT_FOUND],
  ['a participant leaves', live(), remove(BOB), `${LEFT}, end_sessions bob`],
  ['a participant who only looked on leaves', view, remove(BOB), LEFT],
  ['a stranger leaves', live(), remove(EVE), NOT_FOUND],
  ['a participant leaves after the end', live({ endedAt: at(2) }), remove(BOB), NOT_FOUND],
  ['the owner ends it', live(), remove(OWNER), `${ENDED}, end_sessions bob`],
  ['the owner ends a view-only one', view, remove(OWNER), ENDED],
  ['the owner ends one without anybody', empty, remove(OWNER), ENDED],
  ['the owner ends it a second time', ended, remove(OWNER), ''],
  ['time is over', live(), over, `${ENDED}, end_sessions bob`],
  ['time is over for one that has ended', ended, over, ''],
];

t.test('a share moves through its states', async (t) => {
  for (const [name, collaboration, event, expected] of CASES) {
    const decided = decideCollaboration(collaboration, event);
    const effects = decided.ok && decided.value.map((effect) => Object.values(effect).flat().join(' '));
    t.equal(effects ? effects.join(', ') : !decided.ok && decided.error.code, expected, name);
  }
});

t.test('a share lasts from a minute to a day', async (t) => {
  for (const minutes of [1, 60, 1440]) t.same(minutesFaults(minutes), {});
  for (const minutes of [0, -1, 1441, 1.5, Number.NaN]) t.ok(minutesFaults(minutes)['expiresInMinutes']);
});

t.test("a participant's session belongs to them alone", async (t) => {
  t.equal(
    participantSession('11111111-1111-4111-8111-111111111111'),
    'user-11111111-1111-4111-8111-111111111111',
  );
});

t.test('of several shares the one that permits typing comes first', async (t) => {
  const shares = [{ mode: 'view' }, { mode: 'control' }, { mode: 'view' }] as const;
  t.same(valuesOf(shares.toSorted(byPermission), 'mode'), ['control', 'view', 'view']);
});
