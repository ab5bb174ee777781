import t from 'tap';
import { memoryPorts } from '../../../src/adapters/memory/index.ts';
import type { Service } from '../../../src/app/main/compose.ts';
import type { PasswordHasher } from '../../../src/ports/identity/password-hasher.ts';
import { actions, aServiceInTime, type From, from, logIn } from '../../support/service/factors.ts';
import { aGuest, aPerson, aService, as, person } from '../../support/service/service.ts';

const wrong = { error: 'invalid email or password', code: 'login_failed' };
const ATTACKER: From = { ip: '203.0.113.7' };
const OWNER: From = { ip: '198.51.100.9' };

const guess = (service: Service, login: string, where: From = ATTACKER) =>
  from(service, where)('/api/auth/login', { email: login, password: 'a wrong guess' });

t.test('whatever is wrong, a failed sign-in is answered with the same bytes', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  const bob = await aPerson(service, 'bob');
  await service.ports.storage.repositories.users.change(bob.id, { disabled: true });
  const guest = (await aGuest(service)).username;
  const answers = await Promise.all([
    guess(service, 'ada'),
    guess(service, 'ada@example.org'),
    guess(service, 'nobody'),
    guess(service, guest),
    logIn(service, 'bob', ATTACKER),
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

t.test('after five failures an account waits, longer each time; unknown names alike', async (t) => {
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

t.test('while an account is guessed at, its owner signs in from another address', async (t) => {
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

t.test('many addresses together get a hundred guesses, then only known ones may try', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  t.equal((await logIn(service, 'ada', OWNER)).statusCode, 200, 'known from here');
  const bot = (n: number): From => ({ ip: `10.${n}.0.1` });
  const right: number[] = [];
  for (let n = 0; n < 100; n += 1) right.push((await guess(service, 'ada', bot(n))).statusCode);
  t.same([...new Set(right)], [401, 429], 'the first five are told so, the others to wait');
  t.equal((await logIn(service, 'ada', bot(200))).statusCode, 429, 'a new address, though right');
  t.equal((await logIn(service, 'ada', OWNER)).statusCode, 200, 'the known one');
});

t.test('an address fails twenty times a minute, whomever it tries, also after a success', async (t) => {
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

t.test('a network fails a hundred times a minute, also after a success; others may go on', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  const at = (n: number): From => ({ ip: `192.0.2.${n}` });
  for (let n = 1; n < 100; n += 1) t.equal((await guess(service, `user${n}`, at(n))).statusCode, 401);
  t.equal((await logIn(service, 'ada', at(200))).statusCode, 200);
  t.equal((await guess(service, 'user100', at(100))).statusCode, 401, 'the hundredth');
  t.equal((await guess(service, 'user101', at(101))).statusCode, 429);
  t.equal((await guess(service, 'user101', { ip: '192.0.3.1' })).statusCode, 401);
});

t.test('of a burst of guesses no more count than of a queue, the right one not among them', async (t) => {
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

t.test('many right sign-ins at once are all let in', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  const answers = await Promise.all(Array.from({ length: 30 }, () => logIn(service, 'ada')));
  t.same([...new Set(answers.map(({ statusCode }) => statusCode))], [200]);
});

t.test('a wrong old password slows down as well, and the account does not show what was typed', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  const { password } = person('ada');
  const change = (old_password: string) =>
    call('POST', '/api/me/password', { old_password, new_password: 'another good one' });
  for (let tries = 0; tries < 5; tries += 1) t.equal((await change('a wrong guess')).statusCode, 403);
  t.equal((await change(password)).headers['retry-after'], '1');
  service.clock.advance(1_000);
  t.equal((await change(password)).statusCode, 200);
  const { state } = service.ports.storage as unknown as {
    state: { failures: Map<string, unknown>; audit: object };
  };
  await guess(service, 'a secret typed into the wrong field');
  t.notMatch(JSON.stringify([...state.failures.keys(), state.audit]), /secret typed/);
});
