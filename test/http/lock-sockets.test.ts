import t from 'tap';
import { fixedClock, memoryBusHub, memoryStorage } from '../../src/adapters/memory/index.ts';
import { aCluster } from '../support/cluster.ts';
import { waitFor } from '../support/patience.ts';
import { aGuest, as, person } from '../support/service.ts';

const UNAUTHORIZED = [4001, 'unauthorized'] as const;

t.test('locking closes the terminals of that session at once, in every process', async (t) => {
  const { here, there, ada, other, token, open, openEverywhere } = await aCluster(t);
  const victims = await openEverywhere(ada, 'victim');
  const bystanders = [...(await openEverywhere(other, 'other')), ...(await openEverywhere(token, 'token'))];
  await as(here, ada)('PUT', '/api/me/lock', { passcode: '1234' });
  await as(here, ada)('POST', '/api/sessions/lock');
  t.same(await Promise.all(victims.map((one) => one.closed())), [UNAUTHORIZED, UNAUTHORIZED]);
  t.same(
    await Promise.all(bystanders.map((one) => one.alive())),
    Array(4).fill(true),
    'the other session and the token',
  );
  for (const replica of [here, there]) {
    const answer = await as(replica, ada)('GET', '/api/containers');
    t.equal(answer.statusCode, 423, 'and its next request is refused');
  }
  await as(there, ada)('POST', '/api/sessions/unlock', { passcode: '1234' });
  const statusHere = async () => (await as(here, ada)('GET', '/api/containers')).statusCode;
  await waitFor(async () => (await statusHere()) === 200, { what: 'unlocked there, open here soon' });
  t.ok(await (await open(ada, 'again')).alive());
});

t.test('the fifth wrong passcode and a changed password close terminals', async (t) => {
  const { here, there, ada, other, openEverywhere } = await aCluster(t);
  const [mine, others] = [await openEverywhere(ada, 'mine'), await openEverywhere(other, 'other')];
  const { password } = person('ada');
  await as(here, ada)('POST', '/api/me/password', { old_password: password, new_password: `${password}!` });
  t.same(await Promise.all(others.map((one) => one.closed())), [UNAUTHORIZED, UNAUTHORIZED]);
  t.same(await Promise.all(mine.map((one) => one.alive())), [true, true]);
  t.equal((await as(there, other)('GET', '/api/me')).statusCode, 401);
  await as(here, ada)('PUT', '/api/me/lock', { passcode: '1234' });
  for (let tries = 0; tries < 5; tries += 1) {
    await as(here, ada)('POST', '/api/sessions/unlock', { passcode: '0000' });
  }
  t.same(await Promise.all(mine.map((one) => one.closed())), [UNAUTHORIZED, UNAUTHORIZED]);
  t.equal((await as(there, ada)('GET', '/api/me')).statusCode, 401);
});

t.test('what is typed after the screen has locked itself does not reach the shell', async (t) => {
  const clock = fixedClock();
  const shared = { clock, storage: memoryStorage(clock), bus: memoryBusHub().join };
  const cluster = await aCluster(t, { ...shared, monotonicMs: () => clock.now().getTime() });
  const { here, ada, backend } = cluster;
  const call = as(here, ada);
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  await call('PATCH', '/api/me', { auto_lock_minutes: 1 });
  const terminal = await cluster.open(ada, 'main');
  const pty = backend.opened.at(-1);
  if (pty === undefined) return t.fail('no terminal was opened');
  const type = (text: string): void => terminal.socket.send(Buffer.from(text));
  type('ls');
  await waitFor(() => pty.typed() === 'ls');
  clock.advance(59_999);
  type(' -l');
  await waitFor(() => pty.typed() === 'ls -l', { what: 'a moment before' });
  clock.advance(60_000);
  type('; rm -rf ~');
  t.same(await terminal.closed(), UNAUTHORIZED);
  t.equal(pty.typed(), 'ls -l');
  t.equal((await call('GET', '/api/containers')).statusCode, 423);
});

t.test("a guest's terminal closes when its time is over", async (t) => {
  const clock = fixedClock();
  const hub = memoryBusHub();
  const shared = { clock, storage: memoryStorage(clock), bus: hub.join };
  const cluster = await aCluster(t, shared, { liveEveryMs: 20 });
  const { here } = cluster;
  const guest = await aGuest(here);
  const { db_id } = (await as(here, guest)('POST', '/api/containers', { name: 'dev' })).json();
  const terminal = await cluster.openFor(guest, db_id);
  clock.advance(24 * 3_600_000 - 1);
  await as(here, guest)('PATCH', '/api/me', { username: 'still-here' });
  t.ok(await terminal.alive());
  clock.advance(1);
  t.same(await terminal.closed(), UNAUTHORIZED, 'seen by the next look at all sockets');
});
