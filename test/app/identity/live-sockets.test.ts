import { setImmediate as immediate } from 'node:timers/promises';
import pino from 'pino';
import t from 'tap';
import { memoryBusHub } from '../../../src/adapters/memory/index.ts';
import { authorizedConnections } from '../../../src/app/identity/auth/authorized-connections.ts';
import {
  publishAllCredentialsChanged,
  publishCredentialChange,
} from '../../../src/app/identity/auth/credential-changes.ts';
import { type Caller, credentialId } from '../../../src/domain/identity/caller.ts';
import { waitFor } from '../../support/patience.ts';
import { aCaller, aUser } from '../../support/samples/samples.ts';

const silent = pino({ level: 'silent' });
const HOUR_MS = 3_600_000;

const bySession = (sessionId: string, userId = 'ada'): Caller =>
  aCaller({
    user: aUser({ id: userId }),
    credential: { kind: 'login', sessionId, locked: false, barred: false },
  });
const byToken = (tokenId: string, userId = 'ada'): Caller =>
  aCaller({
    user: aUser({ id: userId }),
    credential: {
      kind: 'api_token',
      tokenId,
      prefix: 'svc_0',
      scopes: ['write'],
      name: 'ci',
      containers: null,
      usesLeft: null,
    },
  });

/** Resolves when this process is idle: bus and database are in memory. */
const settled = (): Promise<void> => immediate();

/** A process with sockets, and a database that is a set of ended credentials. */
function aProcess(everyMs = HOUR_MS) {
  const hub = memoryBusHub();
  const [bus, elsewhere] = [hub.join(), hub.join()];
  const ended = new Set<string>();
  const asked: (readonly [id: string, isUse: boolean])[] = [];
  let fault: Error | null = null;
  let nowMs = 0;
  let holdsForMs = HOUR_MS;
  const live = authorizedConnections({
    bus,
    log: silent,
    everyMs,
    monotonicMs: () => nowMs,
    current: async (caller, isUse) => {
      if (fault !== null) throw fault;
      const { credential } = caller;
      const id = credentialId(credential);
      asked.push([id, isUse]);
      return ended.has(id) || ended.has(caller.user.id) ? null : { caller, holdsForMs };
    },
  });
  const open = async (caller: Caller, mayStay = (_now: Caller) => true) => {
    let closed = 0;
    const registration = live.register({
      caller,
      mayStay,
      close: () => {
        closed += 1;
      },
    });
    await settled();
    return { ...registration, closed: () => closed };
  };
  return {
    bus,
    elsewhere,
    ended,
    asked,
    live,
    open,
    breakDown: (error: Error | null) => {
      fault = error;
    },
    advance: (ms: number) => {
      nowMs += ms;
    },
    holdFor: (ms: number) => {
      holdsForMs = ms;
    },
  };
}

t.test('a socket closes when its own session, token or user ends, and no other does', async (t) => {
  for (const [kind, id, caller] of [
    ['session', 's1', bySession('s1')],
    ['token', 't1', byToken('t1')],
    ['user', 'eve', bySession('s2', 'eve')],
    ['user', 'eve', byToken('t2', 'eve')],
  ] as const) {
    for (const from of ['bus', 'elsewhere'] as const) {
      const { ended, live, open, ...process } = aProcess();
      const own = [await open(caller), await open(caller)];
      const other = await open(bySession('other', 'bob'));
      ended.add(id);
      publishCredentialChange(process[from], { kind, id });
      await waitFor(() => own.every((one) => one.closed() === 1), { what: () => `${kind} ${from}` });
      t.equal(other.closed(), 0);
      t.equal(live.count(), 1);
    }
  }
});

t.test('a change that ends nothing closes nothing, and other callers are not checked', async (t) => {
  const { bus, asked, open } = aProcess();
  const [one, two] = [await open(bySession('s1')), await open(bySession('s2', 'eve'))];
  asked.length = 0;
  publishCredentialChange(bus, { kind: 'session', id: 's1' });
  await settled();
  t.same(asked, [['s1', false]]);
  publishAllCredentialsChanged(bus);
  await settled();
  t.same(asked.length, 3);
  t.same([one.closed(), two.closed()], [0, 0]);
});

t.test('sockets of one credential are checked in one query', async (t) => {
  const { bus, asked, open } = aProcess();
  for (let panes = 0; panes < 10; panes += 1) await open(bySession('s1'));
  asked.length = 0;
  publishCredentialChange(bus, { kind: 'user', id: 'ada' });
  await settled();
  t.equal(asked.length, 1);
});

t.test('an end between request and upgrade is noticed', async (t) => {
  const { ended, open } = aProcess();
  ended.add('s1');
  const socket = await open(bySession('s1'));
  await waitFor(() => socket.closed() === 1);
  t.equal(socket.closed(), 1);
});

t.test('a caller who may no longer stay is closed although the credential is valid', async (t) => {
  const { bus, open } = aProcess();
  let allowed = true;
  const socket = await open(bySession('s1'), () => allowed);
  t.equal(socket.closed(), 0);
  allowed = false;
  publishCredentialChange(bus, { kind: 'user', id: 'ada' });
  await waitFor(() => socket.closed() === 1);
});

t.test('the check after a gap covers missed messages', async (t) => {
  const { bus, elsewhere, ended, open } = aProcess();
  const socket = await open(bySession('s1'));
  bus.cut();
  ended.add('s1');
  publishCredentialChange(elsewhere, { kind: 'session', id: 's1' });
  await settled();
  t.equal(socket.closed(), 0);
  bus.reconnect();
  await waitFor(() => socket.closed() === 1);
});

t.test('the regular check works without any message', async (t) => {
  const { bus, ended, open } = aProcess(20);
  const socket = await open(bySession('s1'));
  bus.cut();
  ended.add('s1');
  await waitFor(() => socket.closed() === 1);
  t.equal(socket.closed(), 1, 'once');
});

t.test('a silent database ends nothing, and is asked again', async (t) => {
  const { bus, ended, open, breakDown } = aProcess();
  const socket = await open(bySession('s1'));
  breakDown(new Error('no answer'));
  ended.add('s1');
  publishCredentialChange(bus, { kind: 'session', id: 's1' });
  await settled();
  t.equal(socket.closed(), 0);
  breakDown(null);
  await waitFor(() => socket.closed() === 1);
});

t.test('only user activity counts as a use', async (t) => {
  const { bus, asked, open } = aProcess();
  const [typing, watching] = [await open(bySession('s1')), await open(bySession('s2'))];
  asked.length = 0;
  for (let keys = 0; keys < 100; keys += 1) typing.use(() => {});
  await settled();
  t.same(asked, [['s1', true]], 'reported at once, and once');
  asked.length = 0;
  publishCredentialChange(bus, { kind: 'user', id: 'ada' });
  await settled();
  t.same(asked, [
    ['s1', true],
    ['s2', false],
  ]);
  asked.length = 0;
  publishCredentialChange(bus, { kind: 'user', id: 'ada' });
  await settled();
  t.same(asked, [
    ['s1', false],
    ['s2', false],
  ]);
  watching.end();
});

/** A socket whose admitted uses are recorded. */
async function aTypist(process: ReturnType<typeof aProcess>) {
  const socket = await process.open(bySession('s1'));
  let typed = '';
  const type = (key: string): boolean =>
    socket.use(() => {
      typed += key;
    });
  return { ...socket, type, typed: () => typed };
}

t.test('input after a possible expiry waits for the check', async (t) => {
  const process = aProcess();
  const { ended, asked, advance, holdFor } = process;
  const socket = await aTypist(process);
  socket.type('a');
  t.equal(socket.typed(), 'a', 'at once while it is known to hold');
  await settled();
  advance(HOUR_MS - 1);
  socket.type('b');
  t.equal(socket.typed(), 'ab', 'a moment before');
  advance(1);
  asked.length = 0;
  for (const key of 'cde') socket.type(key);
  t.equal(socket.typed(), 'ab', 'not yet');
  await settled();
  t.same([socket.typed(), asked], ['abcde', [['s1', true]]], 'in its order, and asked for once');
  holdFor(10);
  advance(HOUR_MS);
  socket.type('f');
  await settled();
  t.equal(socket.typed(), 'abcdef');
  advance(10);
  ended.add('s1');
  for (const key of 'gh') socket.type(key);
  await waitFor(() => socket.closed() === 1);
  t.equal(socket.typed(), 'abcdef', 'and never, when it had ended');
  t.notOk(socket.type('i'));
  t.equal(socket.typed(), 'abcdef');
});

t.test('input waiting for the database passes when it answers, up to a limit', async (t) => {
  const process = aProcess();
  const { breakDown, advance } = process;
  const socket = await aTypist(process);
  breakDown(new Error('no answer'));
  advance(HOUR_MS);
  for (let keys = 0; keys < 256; keys += 1) t.ok(socket.type('x'));
  t.notOk(socket.type('y'), 'no more than that');
  await settled();
  t.same([socket.typed(), socket.closed()], ['', 0]);
  breakDown(null);
  await waitFor(() => socket.typed() === 'x'.repeat(256));
});

t.test('input behind the end of its socket is dropped', async (t) => {
  const process = aProcess();
  const socket = await aTypist(process);
  process.advance(HOUR_MS);
  t.ok(socket.type('a'));
  t.ok(socket.use(() => socket.end()));
  t.ok(socket.type('b'));
  await waitFor(() => process.live.count() === 0);
  t.equal(socket.typed(), 'a');
});

t.test('waiting input is limited to a mebibyte, and other input is not counted', async (t) => {
  const { breakDown, advance, open } = aProcess();
  const socket = await open(bySession('s1'));
  let through = 0;
  const send = (bytes: number): boolean =>
    socket.use(() => {
      through += bytes;
    }, bytes);
  for (let frames = 0; frames < 3; frames += 1) t.ok(send(1_048_576), 'at once');
  await settled();
  breakDown(new Error('no answer'));
  advance(HOUR_MS);
  t.ok(send(1_048_575));
  t.notOk(send(2), 'no more than that');
  t.ok(send(1));
  breakDown(null);
  await waitFor(() => through === 4 * 1_048_576);
  breakDown(new Error('no answer'));
  advance(HOUR_MS);
  t.ok(send(1_048_576), 'and then as much again');
});

t.test('a socket that closed by itself is forgotten', async (t) => {
  const { bus, asked, ended, live, open } = aProcess();
  const socket = await open(bySession('s1'));
  socket.end();
  socket.end();
  t.equal(live.count(), 0);
  asked.length = 0;
  ended.add('s1');
  publishCredentialChange(bus, { kind: 'session', id: 's1' });
  await settled();
  t.same([socket.closed(), asked], [0, []]);
});
