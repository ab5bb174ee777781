import t from 'tap';
import {
  DEAD_AFTER_SECONDS,
  decideReaping,
  type Hold,
  type Leftovers,
  type Reaper,
  type Reaping,
} from '../../src/domain/terminal-reaping.ts';

const HERE = 'container';
const me: Reaper = { replica: 'r1', run: 'r1-now', streams: new Set(['mine']), isSteady: true };
const shaky: Reaper = { ...me, isSteady: false };

const hold = (stream: string, over: Partial<Hold> = {}): Hold => ({
  stream,
  runtimeId: HERE,
  muxSession: 'pane-a',
  replica: 'r2',
  run: 'r2-now',
  isEnding: false,
  silentSeconds: 1,
  ...over,
});
const mine = hold('mine', { replica: 'r1', run: 'r1-now' });
const lost = hold('lost', { replica: 'r1', run: 'r1-now' });
const earlier = hold('earlier', { replica: 'r1', run: 'r1-then' });
const theirs = hold('theirs');
const dead = hold('dead', { silentSeconds: DEAD_AFTER_SECONDS + 1 });

const both = (stream: string, session = 'pane-a'): Leftovers => ({ sessions: [session], marks: [stream] });
const NOTHING: Reaping = { marks: [], sessions: [], forget: [] };
const none: Leftovers = { sessions: [], marks: [] };

type Case = readonly [
  name: string,
  seen: Leftovers,
  holds: readonly Hold[],
  by: Reaper,
  Partial<Reaping>,
  at?: string | null,
];

const CASES: readonly Case[] = [
  ['nothing', none, [], me, {}],
  ['what it has itself stays', both('mine'), [mine], me, {}],
  ['what another has stays', both('theirs'), [theirs], me, {}],
  [
    'silent for as long as is allowed',
    both('theirs'),
    [{ ...theirs, silentSeconds: DEAD_AFTER_SECONDS }],
    me,
    {},
  ],
  ['what a dead one had ends', both('dead'), [dead], me, { marks: ['dead'], sessions: ['pane-a'] }],
  [
    'of the main pane only the attachment ends',
    both('dead', 'main'),
    [{ ...dead, muxSession: 'main' }],
    me,
    { marks: ['dead'] },
  ],
  ['one whose name only contains that of a pane stays', { sessions: ['my-pane-a'], marks: [] }, [], me, {}],
  ['a session of unknown kind stays', { sessions: ['other-x'], marks: [] }, [], me, {}],
  [
    'that of a participant ends',
    both('dead', 'user-x'),
    [{ ...dead, muxSession: 'user-x' }],
    me,
    { marks: ['dead'], sessions: ['user-x'] },
  ],
  ['its row goes when nothing is left', none, [dead], me, { forget: ['dead'] }],
  ['not before the program has gone', { sessions: [], marks: ['dead'] }, [dead], me, { marks: ['dead'] }],
  ['nor before the session has', both('x'), [dead], me, { marks: ['x'], sessions: ['pane-a'] }],
  [
    'a session that somebody else shows stays, and the dead row goes',
    both('theirs'),
    [dead, theirs],
    me,
    { forget: ['dead'] },
  ],
  [
    'an earlier run: its programs end, and its session waits for the client',
    both('earlier'),
    [earlier],
    me,
    { marks: ['earlier'] },
  ],
  [
    'unless it was being ended: nobody comes back to it',
    both('earlier'),
    [{ ...earlier, isEnding: true }],
    me,
    { marks: ['earlier'], sessions: ['pane-a'] },
  ],
  ['what another process is ending is left to it', both('theirs'), [{ ...theirs, isEnding: true }], me, {}],
  ['which goes on waiting', { sessions: ['pane-a'], marks: [] }, [earlier], me, {}],
  [
    'until nobody came',
    { sessions: ['pane-a'], marks: [] },
    [{ ...earlier, silentSeconds: 100 }],
    me,
    { sessions: ['pane-a'] },
  ],
  ['what ending failed for', both('lost'), [lost], me, { marks: ['lost'], sessions: ['pane-a'] }],
  ['no row at all', both('unknown'), [], me, { marks: ['unknown'], sessions: ['pane-a'] }],
  ['after an outage nobody is taken for dead', both('dead'), [dead], shaky, {}],
  ['nor is anything without a row', both('unknown'), [], shaky, {}],
  ['but its own it knows', both('lost'), [lost], shaky, { marks: ['lost'], sessions: ['pane-a'] }],
  ['and an earlier run of its own', both('earlier'), [earlier], shaky, { marks: ['earlier'] }],
  ['nothing runs there any more', none, [dead, mine, theirs], me, { forget: ['dead'] }, null],
  [
    'the container is another one now',
    both('x', 'pane-b'),
    [dead],
    me,
    {
      marks: ['x'],
      sessions: ['pane-b'],
      forget: ['dead'],
    },
    'fresh',
  ],
];

t.test('what is ended of what terminals left', async (t) => {
  for (const [name, seen, holds, by, expected, at = HERE] of CASES) {
    t.same(decideReaping(seen, holds, at, by), { ...NOTHING, ...expected }, name);
  }
});
