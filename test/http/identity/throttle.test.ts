import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { memoryAccess, memoryPorts, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import type { Service } from '../../../src/app/main/service.ts';
import type { PasswordHasher } from '../../../src/ports/identity/password-hasher.ts';
import { waitFor } from '../../support/patience.ts';
import { actions, aServiceInTime, type From, from, logIn, withMfa } from '../../support/service/factors.ts';
import {
  aGuest,
  anAdmin,
  anApiToken,
  aPerson,
  aService,
  as,
  auditOf,
  type Bearer,
  outcome,
  type Person,
  person,
  stateOf,
} from '../../support/service/service.ts';
import { aContainerOf, listening, opened } from '../../support/terminal/terminals.ts';

const wrong = { error: 'invalid email or password', code: 'login_failed' };
const ATTACKER: From = { ip: '203.0.113.7' };
const OWNER: From = { ip: '198.51.100.9' };

const guess = (service: Service, login: string, where: From = ATTACKER) =>
  from(service, where)('/api/auth/login', { email: login, password: 'a wrong guess' });

t.test('every failed sign-in gets the same bytes', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  const bob = await aPerson(service, 'bob');
  await service.ports.storage.repositories.users.change(bob.id, { disabled: true, disabledReason: 'left' });
  const guest = (await aGuest(service)).username;
  await withMfa(service, 'eve');
  const answers = await Promise.all([
    guess(service, 'ada'),
    guess(service, 'eve'),
    guess(service, 'ada@example.org'),
    guess(service, 'nobody'),
    guess(service, guest),
    guess(service, 'bob'),
    from(service, ATTACKER)('/api/auth/login', { email: 'ada', password: '' }),
    from(service, ATTACKER)('/api/auth/login', { email: '', password: '' }),
  ]);
  const headers = new Set<string>();
  for (const answer of answers) {
    t.same([answer.statusCode, answer.json()], [401, wrong]);
    const { date: _date, 'x-request-id': _id, ...rest } = answer.headers;
    headers.add(JSON.stringify(rest));
  }
  t.equal(headers.size, 1, 'nor do the headers tell');
  t.equal(actions(service).filter((action) => action === 'login_failed').length, answers.length);
});

t.test('after five failures an account waits, longer each time, even an unknown one', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  for (const name of ['ada', 'nobody']) {
    for (let tries = 0; tries < 5; tries += 1) t.equal((await guess(service, name)).statusCode, 401);
    for (const seconds of [1, 2, 4]) {
      const slowed = await guess(service, name);
      t.same([slowed.statusCode, slowed.json().code], [429, 'rate_limited']);
      t.equal(slowed.headers['retry-after'], `${seconds}`, name);
      service.clock.advance(seconds * 1000 - 1);
      t.equal((await guess(service, name)).statusCode, 429, 'a millisecond early');
      service.clock.advance(1);
      t.equal((await guess(service, name)).statusCode, 401);
    }
  }
});

t.test('while an account is guessed, its owner signs in from another address', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  for (let tries = 0; tries < 5; tries += 1) await guess(service, 'ada');
  t.equal(
    (await logIn(service, 'ada', ATTACKER)).statusCode,
    429,
    'the right password waits with its address',
  );
  const slip = await guess(service, 'ada', OWNER);
  t.same([slip.statusCode, slip.headers['retry-after']], [429, '2'], 'a wrong one from elsewhere counts');
  t.equal((await logIn(service, 'ada', OWNER)).headers['retry-after'], '1', 'and waits a moment');
  service.clock.advance(1_000);
  t.equal((await logIn(service, 'ada', OWNER)).statusCode, 200);
  t.equal((await guess(service, 'ada')).statusCode, 401, 'a success ends the row of failures');
});

t.test('many addresses get a hundred guesses in all, then only known ones may try', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  t.equal((await logIn(service, 'ada', OWNER)).statusCode, 200, 'known from here');
  const bot = (n: number): From => ({ ip: `10.${n}.0.1` });
  const right: number[] = [];
  for (let n = 0; n < 100; n += 1) right.push((await guess(service, 'ada', bot(n))).statusCode);
  t.same([...new Set(right)], [401, 429], 'the first five are refused, the others must wait');
  t.equal((await logIn(service, 'ada', bot(200))).statusCode, 429, 'a new address, though right');
  t.equal((await logIn(service, 'ada', OWNER)).statusCode, 200, 'the known one');
});

t.test('an address fails twenty times a minute for any account, even after a success', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  let asked = 0;
  // One /64 of IPv6 is one address.
  const attempt = (ip = `2001:db8::${asked}`) => guess(service, `user${asked++}`, { ip });
  for (let n = 0; n < 20; n += 1) t.equal((await attempt()).statusCode, 401);
  const full = await attempt();
  t.same([full.statusCode, full.headers['retry-after']], [429, '3']);
  t.equal((await attempt('2001:db8:0:1::1')).statusCode, 401, 'its neighbour may');
  service.clock.advance(3_000);
  t.equal((await attempt()).statusCode, 401, 'one more after its time');
  service.clock.advance(3_000);
  t.equal((await logIn(service, 'ada', { ip: '2001:db8::7' })).statusCode, 200);
  t.equal((await attempt()).statusCode, 401, 'the one that its time gave back');
  t.equal((await attempt()).statusCode, 429);
});

t.test('a network fails a hundred times a minute, even after a success; others continue', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  const at = (n: number): From => ({ ip: `192.0.2.${n}` });
  for (let n = 1; n < 100; n += 1) t.equal((await guess(service, `user${n}`, at(n))).statusCode, 401);
  t.equal((await logIn(service, 'ada', at(200))).statusCode, 200);
  t.equal((await guess(service, 'user100', at(100))).statusCode, 401, 'the hundredth');
  t.equal((await guess(service, 'user101', at(101))).statusCode, 429);
  t.equal((await guess(service, 'user101', { ip: '192.0.3.1' })).statusCode, 401);
});

t.test('concurrent guesses count like consecutive ones, and a right one is not among them', async (t) => {
  const { hash, verify } = memoryPorts().hasher;
  const guesses = 30;
  let verified = 0;
  const hasher: PasswordHasher = {
    hash,
    async verify(stored, password) {
      verified += 1;
      return await verify(stored, password);
    },
  };
  const service = await aService({ hasher });
  await aPerson(service, 'ada');
  const burst = await Promise.all([
    ...Array.from({ length: guesses }, () => guess(service, 'ada')),
    logIn(service, 'ada', ATTACKER),
  ]);
  const statuses = burst.map(({ statusCode }) => statusCode);
  t.equal(statuses.filter((status) => status === 401).length, 5);
  t.equal(statuses.filter((status) => status === 429).length, 26);
  t.ok(verified < guesses, `${verified} were hashed`);
});

t.test('concurrent right sign-ins are all admitted', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  const answers = await Promise.all(Array.from({ length: 30 }, () => logIn(service, 'ada')));
  t.same([...new Set(answers.map(({ statusCode }) => statusCode))], [200]);
});

t.test('a wrong old password slows down too, and nothing reveals the text entered', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  const { password } = person('ada');
  const change = (old_password: string) =>
    call('POST', '/api/me/password', { old_password, new_password: 'another good one' });
  for (let tries = 0; tries < 5; tries += 1) t.equal((await change('a wrong guess')).statusCode, 403);
  t.equal((await change(password)).headers['retry-after'], '1');
  service.clock.advance(1_000);
  t.equal((await change(password)).statusCode, 200);
  const state = stateOf(service);
  await guess(service, 'a secret typed into the wrong field');
  t.notMatch(JSON.stringify([...state.failures.keys(), state.audit]), /secret typed/);
});

const openConnections = (service: Service): Promise<number> =>
  new Promise((resolve, reject) =>
    service.http.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
  );

const FULL = [429, 'too_many_at_once'];

/** Ada and Bob with a container each, in a tier with small limits. */
async function scene(t: Test, limits: object) {
  const runtime = memoryRuntime();
  const real = memoryAccess(runtime).commands;
  const running: (() => void)[] = [];
  const commands: typeof real = {
    open: async (handle, request) => {
      if (request.command[0] === 'wait') await new Promise<void>((resolve) => running.push(resolve));
      return await real.open(handle, { ...request, command: ['true'] });
    },
  };
  const ports = memoryPorts();
  const service = await aService({ storage: ports.storage, clock: ports.clock, runtime, commands });
  const address = await listening(t, service);
  const root = as(service, await anAdmin(service));
  const changed = await root('PATCH', '/api/admin/tiers/free', limits);
  t.equal(changed.statusCode, 200, changed.body);
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const boxes = { ada: await aContainerOf(service, ada), bob: await aContainerOf(service, bob) };
  return { service, address, root, ada, bob, boxes, running };
}

for (const [kind, limit, urlOf, protocol] of [
  [
    'terminals',
    'max_terminals',
    (box: string, n: number) => `/api/containers/${box}/terminal?connection_id=p${n}`,
    'berth.terminal.v1',
  ],
  ['event sockets', 'max_event_sockets', () => '/api/events', 'berth.events.v1'],
] as const) {
  t.test(`${kind} of one user count over all credentials, and are refused before the upgrade`, async (t) => {
    const { service, address, ada, bob, boxes } = await scene(t, { [limit]: 2 });
    const open = (who: Bearer, box: string, n: number) =>
      opened(`${address}${urlOf(box, n)}`, [protocol, `bearer.${who.token}`]);
    const first = await open(ada, boxes.ada, 1);
    t.type(await open(await anApiToken(service, ada), boxes.ada, 2), WebSocket);
    t.same(await open(ada, boxes.ada, 3), [...FULL, '5']);
    t.type(await open(bob, boxes.bob, 1), WebSocket, 'another user is not concerned');
    (first as WebSocket).close();
    await waitFor(async () => (await open(ada, boxes.ada, 1)) instanceof WebSocket);
  });
}

t.test('a command counts until it has ended, even without its client', async (t) => {
  const { service, address, ada, bob, boxes, running } = await scene(t, { max_commands: 2 });
  const run = async (who: Person, box: string, ...command: string[]) =>
    await as(service, who)('POST', `/api/containers/${box}/exec`, { command });
  const waiting = run(ada, boxes.ada, 'wait');
  const leaving = new AbortController();
  const left = fetch(`${address.replace('ws', 'http')}/api/containers/${boxes.ada}/exec`, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ command: ['wait'] }),
  });
  await waitFor(() => running.length === 2);
  leaving.abort();
  await t.rejects(left);
  const full = await run(ada, boxes.ada, 'true');
  t.same([full.statusCode, full.json().code, full.headers['retry-after']], [...FULL, '5']);
  t.equal((await run(bob, boxes.bob, 'true')).statusCode, 200);
  t.equal(
    (await as(service, ada)('GET', '/api/containers')).statusCode,
    200,
    'other requests are no commands',
  );
  for (const end of running) end();
  t.equal((await waiting).statusCode, 200);
  await waitFor(async () => (await run(ada, boxes.ada, 'true')).statusCode === 200);
  for (let n = 0; n < 4; n += 1)
    t.equal((await run(ada, boxes.ada, 'true')).statusCode, 200, 'all was given back');
});

t.test('a header Upgrade alone changes nothing of what a request counts', async (t) => {
  const { service, address, ada, boxes, running } = await scene(t, { max_commands: 1, max_downloads: 1 });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.teardown(() => agent.destroy());
  const ask = (method: string, url: string, body = '') => {
    const headers = {
      authorization: `Bearer ${ada.token}`,
      upgrade: 'x',
      'content-type': 'application/json',
    };
    const asked = request(`${address.replace('ws', 'http')}${url}`, { method, agent, headers });
    asked.end(body);
    return asked;
  };
  const connections = new Set<unknown>();
  for (let n = 0; n < 3; n += 1) {
    const asked = ask('GET', `/api/containers/${boxes.ada}/logs`);
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    await buffer(answer);
    connections.add(asked.socket);
    t.not(answer.statusCode, 429, 'what has ended on a connection that goes on is given back');
  }
  t.equal(connections.size, 1);
  const left = ask('POST', `/api/containers/${boxes.ada}/exec`, JSON.stringify({ command: ['wait'] }));
  left.on('error', () => {});
  await waitFor(() => running.length === 1);
  left.destroy();
  await waitFor(async () => (await openConnections(service)) === 0);
  const again = await as(service, ada)('POST', `/api/containers/${boxes.ada}/exec`, { command: ['true'] });
  t.same([again.statusCode, again.json().code], FULL, 'a command counts until it ends');
  for (const end of running) end();
});

t.test('uploads and downloads have their own limits, and a refused one is no use', async (t) => {
  const { service, ada, boxes } = await scene(t, { max_uploads: 0, max_downloads: 1 });
  const call = as(service, ada);
  const files = `/api/containers/${boxes.ada}/files`;
  t.same(outcome(await call('PUT', `${files}?path=a`, {})), FULL);
  for (let n = 0; n < 3; n += 1) {
    for (const url of [`${files}?path=.`, `/api/containers/${boxes.ada}/logs`, '/api/audit']) {
      t.not((await call('GET', url)).statusCode, 429, url);
    }
    t.equal((await call('GET', '/api/containers/none/files?path=a')).statusCode, 404);
  }
});

t.test('a user has a request limit over all sessions and another over all tokens, and sees it', async (t) => {
  const { service, root, ada, bob } = await scene(t, { requests_per_minute: 20 });
  const me = await as(service, ada)('GET', '/api/me');
  t.match(me.json().limits, {
    requests_per_minute: 20,
    max_terminals: 64,
    max_commands: 32,
    max_downloads: 32,
  });
  t.equal(me.headers['ratelimit-policy'], '20;w=60');
  const tokens = [];
  for (let n = 0; n < 4; n += 1) tokens.push(await anApiToken(service, ada));
  const statuses: number[] = [];
  for (let n = 0; n < 40; n += 1) {
    const [who = ada] = tokens.slice(n % 4);
    statuses.push((await as(service, who)('GET', '/api/containers')).statusCode);
  }
  t.equal(statuses.indexOf(429), 20);
  t.notOk(statuses.slice(statuses.indexOf(429)).includes(200));
  const again: Bearer = (await logIn(service, 'ada')).json();
  statuses.length = 0;
  for (let n = 0; n < 20; n += 1)
    statuses.push((await as(service, n % 2 === 0 ? ada : again)('GET', '/api/containers')).statusCode);
  t.equal(
    statuses.indexOf(429),
    20 - 1 - 4 - 1,
    'her sessions have a count of their own, of all that they did',
  );
  t.equal((await as(service, bob)('GET', '/api/me')).statusCode, 200);
  await root('PATCH', '/api/admin/settings', { requests_per_minute: 0 });
  service.clock.advance(1_001);
  const free = await as(service, ada)('GET', '/api/me');
  t.same([free.statusCode, free.json().limits.requests_per_minute], [200, 0], 'no setting, no limit');
  t.equal(free.headers['ratelimit-policy'], undefined);
});

t.test('a credential above its limit must wait, and another need not', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const root = as(service, await anAdmin(service));
  const use = as(service, await anApiToken(service, ada));
  t.equal((await root('PATCH', '/api/admin/settings', { requests_per_minute: 5 })).statusCode, 200);
  for (let n = 0; n < 5; n += 1) t.equal((await use('GET', '/api/me')).statusCode, 200);
  const refused = await use('GET', '/api/me');
  const tooMany = { error: 'too many requests', code: 'rate_limited' };
  t.same([refused.statusCode, refused.json()], [429, tooMany]);
  const seconds = Number(refused.headers['retry-after']);
  t.ok(seconds > 0 && seconds <= 120);
  t.equal((await as(service, ada)('GET', '/api/me')).statusCode, 200, 'a session has its own count');
  service.clock.advance(seconds * 1000);
  t.equal((await use('GET', '/api/me')).statusCode, 200);
});

t.test('requests without a credential count by address', async (t) => {
  const service = await aService();
  await service.ports.storage.repositories.settings.change({ requestsPerMinute: 3 });
  const login = (remoteAddress: string) =>
    service.http.inject({ method: 'POST', url: '/api/auth/login', payload: {}, remoteAddress });
  for (let n = 0; n < 3; n += 1) t.equal((await login('192.0.2.1')).statusCode, 400);
  t.equal((await login('192.0.2.1')).statusCode, 429);
  t.equal((await login('192.0.2.2')).statusCode, 400);
  t.equal((await service.http.inject({ url: '/livez', remoteAddress: '192.0.2.1' })).statusCode, 200);
});

t.test('a guest has lower limits', async (t) => {
  const service = await aService();
  const { tiers } = (await as(service, await aPerson(service, 'ada'))('GET', '/api/tiers')).json();
  const [guest, free] = ['guest', 'free'].map((name) =>
    tiers.find((one: { name: string }) => one.name === name),
  );
  for (const key of Object.keys(free).filter((one) => /^(requests|max)_(?!.*_seconds$)/.test(one))) {
    t.ok(guest[key] < free[key], key);
  }
});

t.test('changes that make a record are limited per user, over all tokens', async (t) => {
  const service = await aServiceInTime();
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const tokens = [await anApiToken(service, ada), await anApiToken(service, ada)];
  const credentials = tokens.map((one) => as(service, one));
  const box = await aContainerOf(service, ada);
  let made = 0;
  const change = () => {
    made += 1;
    const call = credentials[made % credentials.length] ?? as(service, ada);
    return call('PATCH', `/api/containers/${box}/lifetime`, { keep_seconds: 60 + made });
  };
  const recorded = () => auditOf(service, 'lifetime_changed').length;
  let answer = await change();
  for (; answer.statusCode === 200 && made < 1_000; answer = await change());
  t.same(outcome(answer), [429, 'rate_limited']);
  t.ok(Number(answer.headers['retry-after']) > 0);
  t.ok(made > 30, 'far more than a person makes');
  const before = recorded();
  t.equal((await change()).statusCode, 429);
  t.equal(recorded(), before);
  t.equal(
    (await as(service, ada)('GET', '/api/containers')).statusCode,
    200,
    'other requests are not concerned',
  );
  t.equal((await as(service, tokens[0] ?? ada)('POST', '/api/tokens/derive', { name: 'x' })).statusCode, 429);
  for (const who of [ada, bob])
    t.equal((await as(service, who)('POST', '/api/tokens', { name: 'x' })).statusCode, 201);
  service.clock.advance(120_000);
  t.equal((await change()).statusCode, 200);
});
