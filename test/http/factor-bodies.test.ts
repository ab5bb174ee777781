import { inspect } from 'node:util';
import t from 'tap';
import { throwAt } from '../support/service/bodies.ts';
import { aServiceInTime, type InTime, withMfa } from '../support/service/factors.ts';
import { aPerson, as, type Person, person } from '../support/service/service.ts';

function target(service: InTime, who: Person | null) {
  const { state } = service.ports.storage as unknown as {
    state: Record<string, unknown> & { locks: Map<string, { wrong: number }> };
  };
  return {
    service,
    who,
    beforeEach() {
      service.clock.advance(60_000);
      // Wrong passcodes are counted, and the fifth would end the session that the test needs.
      for (const [id, lock] of state.locks) state.locks.set(id, { ...lock, wrong: 0 });
    },
    facts() {
      const { users, sessions, totp, recoveryCodes, passkeys, passcodes, autoLockMinutes } = state;
      const kept = { users, sessions, totp, recoveryCodes, passkeys, passcodes, autoLockMinutes };
      return inspect(kept, { depth: null, maxArrayLength: null, maxStringLength: null });
    },
  };
}

t.test('whatever nobody sends, the answer is no fault of ours and a refusal changes nothing', async (t) => {
  const statuses = await throwAt(target(await aServiceInTime(), null));
  for (const status of [200, 400, 401]) t.ok(statuses.has(status), `${status}`);
});

t.test('nor what a user sends, with a second factor on', async (t) => {
  const service = await aServiceInTime();
  const { who } = await withMfa(service, 'ada');
  const statuses = await throwAt(target(service, who));
  for (const status of [200, 400, 403]) t.ok(statuses.has(status), `${status}`);
  t.equal((await as(service, who)('GET', '/api/me')).statusCode, 200, 'the session lived all the time');
});

t.test('nor from a locked session', async (t) => {
  const service = await aServiceInTime();
  const who = await aPerson(service, 'ada');
  await as(service, who)('PUT', '/api/me/lock', { passcode: '1234' });
  await as(service, who)('POST', '/api/sessions/lock');
  const statuses = await throwAt(target(service, who));
  for (const status of [403, 423]) t.ok(statuses.has(status), `${status}`);
  t.match((await as(service, who)('GET', '/api/me')).json(), { locked: true });
});

t.test('half of a surrogate pair is refused, as it would be kept as another character', async (t) => {
  const service = await aServiceInTime();
  const who = await aPerson(service, 'ada');
  const half = '\udc00\ud83d';
  const mine = person('ada');
  const bodies = [
    ['POST', '/api/auth/register', { ...person('bob'), password: `${mine.password}${half}` }],
    ['POST', '/api/auth/login', { email: `${mine.email}${half}`, password: mine.password }],
    ['POST', '/api/me/password', { old_password: mine.password, new_password: `${mine.password}${half}` }],
    ['PUT', '/api/me/lock', { passcode: `12${half}` }],
    ['POST', '/api/sessions/revoke-others', { reason: half }],
  ] as const;
  for (const [method, url, body] of bodies) {
    const answer = await as(service, who)(method, url, body);
    t.same([answer.statusCode, answer.json().code], [400, 'validation_failed'], url);
  }
  t.equal((await as(service, who)('PUT', '/api/me/lock', { passcode: '😀😀😀😀' })).statusCode, 200);
});
