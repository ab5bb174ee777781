import t from 'tap';
import { aServiceInTime } from '../support/factors.ts';
import { aPerson, as } from '../support/service.ts';

const MINUTE_MS = 60_000;

t.test(
  'a session locks itself when it was idle for auto_lock_minutes, and asking does not open it',
  async (t) => {
    const service = await aServiceInTime();
    const call = as(service, await aPerson(service, 'ada'));
    await call('PUT', '/api/me/lock', { passcode: '1234' });
    const changed = await call('PATCH', '/api/me', { auto_lock_minutes: 5 });
    t.match(changed.json(), { auto_lock_minutes: 5, locked: false, username: 'ada' });
    const use = async () => (await call('GET', '/api/containers')).statusCode;
    const tick = async (ms: number) => {
      service.clock.advance(ms);
      await service.writeDue();
    };
    for (let minutes = 0; minutes < 12; minutes += 2) {
      t.equal(await use(), 200, `in use after ${minutes} minutes`);
      await tick(2 * MINUTE_MS);
    }
    t.equal(await use(), 200);
    await tick(5 * MINUTE_MS - 1);
    t.equal(await use(), 200, 'a moment before');
    await tick(5 * MINUTE_MS);
    t.equal((await call('GET', '/api/me')).json().locked, true);
    await tick(1_000);
    t.equal(await use(), 423, 'asking who it is was no use of it');
    t.equal((await call('POST', '/api/sessions/unlock', { passcode: '1234' })).statusCode, 200);
    t.equal(await use(), 200);
  },
);

t.test('the auto-lock is a number of minutes or nothing, and no business of a token', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  for (const auto_lock_minutes of [0, -1, 1441, 1.5, '5', true]) {
    t.equal(
      (await call('PATCH', '/api/me', { auto_lock_minutes })).statusCode,
      400,
      String(auto_lock_minutes),
    );
  }
  const { token } = (await call('POST', '/api/tokens', { name: 'ci' })).json();
  const answer = await as(service, { ...ada, token })('PATCH', '/api/me', { auto_lock_minutes: null });
  t.same([answer.statusCode, answer.json().error], [403, 'login token required']);
  t.equal((await call('PATCH', '/api/me', { auto_lock_minutes: 7 })).json().auto_lock_minutes, 7);
  t.equal((await call('PATCH', '/api/me', { auto_lock_minutes: null })).json().auto_lock_minutes, null);
});
