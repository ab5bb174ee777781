import t from 'tap';
import {
  CLOSE,
  type CloseReason,
  muxSessionName,
  terminalKey,
} from '../../../src/domain/terminals/terminal.ts';
import {
  type ContainerStatus,
  closeReason,
  forParticipant,
  takedownReason,
} from '../../../src/domain/terminals/terminal-close-reason.ts';
import {
  closeAfterEnd,
  closeAfterFault,
  type EngineSight,
  mayBeContainers,
  type OpenFault,
  type StreamEnd,
} from '../../../src/domain/terminals/terminal-end.ts';
import {
  DEAD_AFTER_SECONDS,
  decideReaping,
  isSearchedBy,
  type Leftovers,
  type Reaper,
  type Reaping,
  type TerminalLease,
} from '../../../src/domain/terminals/terminal-reaping.ts';

t.test('the key has container, user and connection, also of agents with colons in their id', async (t) => {
  t.equal(terminalKey('abc', 'u', 'main'), 'abc:u:main');
  t.equal(terminalKey('agent:1', 'u', 'pane2'), 'agent:1:u:pane2');
});

t.test('the main pane keeps its session; others have one each', async (t) => {
  t.equal(muxSessionName('main'), 'main');
  t.not(muxSessionName('a'), muxSessionName('b'));
  t.not(muxSessionName('x'), 'main');
});

const running: ContainerStatus = { state: 'running', runtimeId: 'r1', operation: null };
const stopping: ContainerStatus = { ...running, state: 'stopping', operation: 'stop' };
const replaced: ContainerStatus = { ...running, runtimeId: 'r2' };
const updating: ContainerStatus = { ...running, state: 'updating', operation: 'update' };
const deleting: ContainerStatus = { ...running, state: 'stopping', operation: 'delete' };
const {
  containerStopped: STOPPED,
  containerRestarted: RESTARTED,
  containerDeleted: DELETED,
  detached: DETACHED,
  ended: ENDED,
} = CLOSE;

type Close = CloseReason | null;
const PLACES: readonly (readonly [name: string, now: ContainerStatus | null, close: Close, down: Close])[] = [
  ['runs', running, null, null],
  ['is updated', updating, null, RESTARTED],
  ['is given to somebody else', { ...updating, operation: 'transfer' }, null, STOPPED],
  ['was made anew', replaced, RESTARTED, RESTARTED],
  ['is being stopped', stopping, STOPPED, STOPPED],
  ['is about to be stopped', { ...running, operation: 'stop' }, STOPPED, STOPPED],
  ['is stopped for its disk', { ...stopping, operation: null }, STOPPED, STOPPED],
  ['is stopped', { ...running, state: 'stopped' }, STOPPED, STOPPED],
  ['has failed', { ...running, state: 'failed' }, STOPPED, STOPPED],
  ['is being deleted', deleting, null, DELETED],
  ['is deleted', { ...running, state: 'deleted' }, DELETED, DELETED],
  ['is unknown', null, DELETED, DELETED],
];

t.test("a container's change closes its terminals with the right reason", async (t) => {
  for (const [name, now, close, down] of PLACES) {
    t.same([closeReason(now, 'r1'), takedownReason(now, 'r1')], [close, down], name);
  }
});

t.test("participants see the end of the share, and the owner the container's", async (t) => {
  t.equal(forParticipant(DELETED, true), CLOSE.collaborationEnded);
  t.equal(forParticipant(DELETED, false), DELETED);
  t.equal(forParticipant(STOPPED, true), STOPPED);
});

const lost: StreamEnd = { kind: 'lost' };
const exited = (code: number | null): StreamEnd => ({ kind: 'exited', code });
const LONG_MS = 60_000;

type Row = ContainerStatus | null | undefined;
type Engine = EngineSight | null;

const ENDS: readonly (readonly [name: string, StreamEnd, Row, Engine, CloseReason])[] = [
  ['the shell exits', exited(0), running, null, ENDED],
  ['the shell is killed in a container that runs', exited(137), running, 'running', ENDED],
  ['its session is ended', exited(null), running, 'running', ENDED],
  ['the container is killed behind Berth', exited(137), running, 'stopped', STOPPED],
  ['the container is stopped behind Berth', exited(129), running, 'stopped', STOPPED],
  ['the container is removed behind Berth', lost, running, 'gone', STOPPED],
  ['the container is paused behind Berth', lost, running, 'paused', STOPPED],
  ['the engine crashes', lost, running, 'silent', DETACHED],
  ['the engine has come back', lost, running, 'running', DETACHED],
  ['the shell exits and the engine crashes', exited(137), running, 'silent', ENDED],
  ['the container is stopped by Berth', exited(129), stopping, 'running', STOPPED],
  ['the container was made anew', lost, replaced, 'gone', RESTARTED],
  ['the container is updated', exited(129), updating, 'stopped', RESTARTED],
  ['the container is deleted', lost, null, 'gone', DELETED],
  ['the database is silent, and the container runs', exited(0), undefined, null, ENDED],
  ['the database is silent, and the container does not run', lost, undefined, 'gone', STOPPED],
  ['the database and the engine are silent', lost, undefined, 'silent', DETACHED],
];

t.test('the end of a stream has the right close reason', async (t) => {
  for (const [name, end, row, engine, reason] of ENDS)
    t.same(closeAfterEnd({ ...end, ranMs: LONG_MS }, row, 'r1', engine), reason, name);
});

t.test('a shell that ends within a second without an exit code has not started', async (t) => {
  const after = (end: StreamEnd, ranMs: number, engine: EngineSight = 'running'): CloseReason =>
    closeAfterEnd({ ...end, ranMs }, running, 'r1', engine);
  t.same(after(exited(null), 999), CLOSE.notOpened);
  t.same(after(exited(null), 1_000), ENDED);
  t.same(after(exited(1), 5), ENDED, 'a program that has ended by itself has');
  t.same(after(exited(null), 5, 'stopped'), STOPPED);
});

t.test('the engine is asked where the container may have ended the program', async (t) => {
  for (const end of [lost, exited(null), exited(129), exited(137), exited(143)])
    t.equal(mayBeContainers(end), true, JSON.stringify(end));
  // A shell returns 130 when Ctrl-C ended its last program.
  for (const code of [0, 1, 127, 130]) t.equal(mayBeContainers(exited(code)), false, `code ${code}`);
});

const FAULTS: readonly (readonly [name: string, OpenFault, Row, EngineSight, CloseReason])[] = [
  ['no process is free', 'no_processes', running, 'running', CLOSE.tooManyProcesses],
  ['no process starts in the container', 'unresponsive', running, 'running', CLOSE.unresponsive],
  ['something else fails', 'other', running, 'running', CLOSE.notOpened],
  ['the database does not answer', 'storage', undefined, 'running', CLOSE.tryAgainLater],
  ['it did not, and the container is being stopped', 'storage', stopping, 'running', STOPPED],
  ['the engine is silent', 'other', running, 'silent', CLOSE.notOpened],
  ['the container ended behind Berth', 'other', running, 'stopped', STOPPED],
  ['the container was removed behind Berth', 'other', running, 'gone', STOPPED],
  ['the container is paused', 'other', running, 'paused', STOPPED],
  ['a full container is being stopped', 'no_processes', stopping, 'running', STOPPED],
  ['the database is silent', 'no_processes', undefined, 'running', CLOSE.tooManyProcesses],
];

t.test('a failed opening has the right close reason', async (t) => {
  for (const [name, fault, row, engine, reason] of FAULTS)
    t.same(closeAfterFault(fault, row, 'r1', engine), reason, name);
});

const HERE = 'container';
const me: Reaper = { replica: 'r1', runId: 'r1-now', streamIds: new Set(['mine']), isSteady: true };
const shaky: Reaper = { ...me, isSteady: false };

const lease = (stream: string, over: Partial<TerminalLease> = {}): TerminalLease => ({
  streamId: stream,
  runtimeId: HERE,
  muxSession: 'pane-a',
  replica: 'r2',
  runId: 'r2-now',
  isEnding: false,
  silentSeconds: 1,
  ...over,
});
const mine = lease('mine', { replica: 'r1', runId: 'r1-now' });
const lostLease = lease('lost', { replica: 'r1', runId: 'r1-now' });
const earlier = lease('earlier', { replica: 'r1', runId: 'r1-then' });
const theirs = lease('theirs');
const dead = lease('dead', { silentSeconds: DEAD_AFTER_SECONDS + 1 });

const both = (stream: string, session = 'pane-a'): Leftovers => ({ sessions: [session], marks: [stream] });
const NOTHING: Reaping = { marks: [], sessions: [], forget: [] };
const none: Leftovers = { sessions: [], marks: [] };

type Reaped = readonly [
  name: string,
  seen: Leftovers,
  holds: readonly TerminalLease[],
  by: Reaper,
  Partial<Reaping>,
  at?: string | null,
];

const REAPINGS: readonly Reaped[] = [
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
  ['what ending failed for', both('lost'), [lostLease], me, { marks: ['lost'], sessions: ['pane-a'] }],
  ['no row at all', both('unknown'), [], me, { marks: ['unknown'], sessions: ['pane-a'] }],
  ['after an outage nobody is taken for dead', both('dead'), [dead], shaky, {}],
  ['nor is anything without a row', both('unknown'), [], shaky, {}],
  ['but its own it knows', both('lost'), [lostLease], shaky, { marks: ['lost'], sessions: ['pane-a'] }],
  ['and an earlier run of its own', both('earlier'), [earlier], shaky, { marks: ['earlier'] }],
  ['nothing runs there any more', none, [dead, mine, theirs], me, { forget: ['dead'] }, null],
  [
    'the container is another one now',
    both('x', 'pane-b'),
    [dead],
    me,
    { marks: ['x'], sessions: ['pane-b'], forget: ['dead'] },
    'fresh',
  ],
];

t.test('leftovers of terminals are ended by rule', async (t) => {
  for (const [name, seen, leases, by, expected, at = HERE] of REAPINGS) {
    t.same(decideReaping(seen, leases, at, by), { ...NOTHING, ...expected }, name);
  }
});

t.test('every container is searched by exactly one of the live processes', async (t) => {
  const runs = ['c', 'a', 'b'];
  const ids = Array.from({ length: 300 }, (_, n) => `${(n * 7_919_333).toString(16).padStart(8, '0')}-rest`);
  for (const live of [runs, runs.slice(1), []]) {
    const all = [...new Set([...live, 'a'])];
    const shares = all.map((run) => ids.filter((id) => isSearchedBy(run, id, live, 7)).length);
    t.equal(
      shares.reduce((sum, share) => sum + share),
      ids.length,
    );
    for (const share of shares) t.ok(share > ids.length / all.length / 2, `${shares}`);
  }
  t.ok(
    ids.every((id) => isSearchedBy('a', id, [], 7)),
    'a process that is not on record yet counts itself',
  );
  t.ok(
    ids.every((id) => [7, 8, 9].filter((turn) => isSearchedBy('a', id, runs, turn)).length === 1),
    'in as many turns each process searches all',
  );
});
