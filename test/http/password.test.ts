import t from 'tap';
import { actions, aServiceInTime, from, logIn, withMfa } from '../support/factors.ts';
import { aPerson, as, type Person, person } from '../support/service.ts';

const NEW = 'an even better one';
const { password: OLD } = person('ada');
const body = { old_password: OLD, new_password: NEW };

t.test('a changed password opens, the old one does not, and the other sessions end', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const { token } = (await logIn(service, 'ada')).json();
  const other = as(service, { ...ada, token });
  const call = as(service, ada);
  t.equal((await other('GET', '/api/me')).statusCode, 200);
  const before = actions(service).length;
  const changed = await call('POST', '/api/me/password', body);
  t.same([changed.statusCode, changed.json()], [200, { changed: true }]);
  t.same(actions(service).slice(before), ['password_changed', 'sessions_revoked_others']);
  t.equal((await call('GET', '/api/me')).statusCode, 200, 'this session stays');
  t.equal((await other('GET', '/api/me')).statusCode, 401);
  t.equal((await logIn(service, 'ada')).statusCode, 401);
  t.equal((await logIn(service, 'ada', {}, { ...person('ada'), password: NEW })).statusCode, 200);
  const { state } = service.ports.storage as unknown as {
    state: { sessions: { revokedReason: string | null }[] };
  };
  t.same(
    state.sessions.map(({ revokedReason }) => revokedReason),
    [null, 'password_changed', null],
  );
});

t.test('API tokens outlive a password', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const { token } = (await as(service, ada)('POST', '/api/tokens', { name: 'ci' })).json();
  await as(service, ada)('POST', '/api/me/password', body);
  t.equal((await as(service, { ...ada, token })('GET', '/api/me')).statusCode, 200);
});

t.test('a sign-in that waits for its second factor ends with the old password', async (t) => {
  const service = await aServiceInTime();
  const { who, recoveryCodes } = await withMfa(service, 'ada');
  const { mfa_token } = (await logIn(service, 'ada')).json();
  await as(service, who)('POST', '/api/me/password', body);
  const answer = await from(service)('/api/auth/mfa', { mfa_token, code: recoveryCodes[0] });
  t.equal(answer.statusCode, 401);
});

t.test('the old password must be right and the new one good, or nothing changes', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  const { token } = (await logIn(service, 'ada')).json();
  const wrong = await call('POST', '/api/me/password', { ...body, old_password: 'not it, really' });
  t.same([wrong.statusCode, wrong.json()], [403, { error: 'wrong password', code: 'wrong_password' }]);
  for (const new_password of ['short', 'x'.repeat(1025), '', 'a\u0000bcdefgh', 5]) {
    const answer = await call('POST', '/api/me/password', { ...body, new_password });
    t.match([answer.statusCode, answer.json()], [400, { fields: { new_password: String } }]);
  }
  t.equal(
    (await call('POST', '/api/me/password', { new_password: NEW })).json().error,
    'old_password is required',
  );
  t.equal((await as(service, { token })('GET', '/api/me')).statusCode, 200);
  t.equal((await logIn(service, 'ada')).statusCode, 200);
});

t.test('an API token changes no password', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const { token } = (await as(service, ada)('POST', '/api/tokens', { name: 'ci' })).json();
  const answer = await as(service, { ...ada, token })('POST', '/api/me/password', body);
  t.same([answer.statusCode, answer.json().error], [403, 'login token required']);
});

t.test('of two changes at once one wins', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  const wanted = ['the first new one', 'the second new one'];
  const answers = await Promise.all(
    wanted.map((new_password) => call('POST', '/api/me/password', { ...body, new_password })),
  );
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 403]);
});

t.test('a profile tells what is set, and its name can be changed to a free one', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'bob');
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  t.match((await call('GET', '/api/me')).json(), {
    id: ada.id,
    email: 'ada@example.org',
    username: 'ada',
    guest_until: null,
    locked: false,
    mfa_enabled: false,
    passcode_set: false,
    auto_lock_minutes: null,
  });
  t.equal((await call('PATCH', '/api/me', { username: 'Ada' })).json().username, 'Ada', 'in other letters');
  t.equal((await call('PATCH', '/api/me', { username: 'ada.l' })).json().username, 'ada.l');
  t.equal((await call('GET', '/api/me')).json().username, 'ada.l');
  for (const username of ['bob', 'BOB', 'a b', '', 3]) {
    const answer = await call('PATCH', '/api/me', { username });
    t.match([answer.statusCode, answer.json()], [400, { fields: { username: String } }], String(username));
  }
  for (const field of ['role', 'tier', 'id', 'email', 'disabled_at', 'password_hash', '__proto__']) {
    const raw = { headers: { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' } };
    const payload = `{"${field}":"admin"}`;
    const answer = await service.http.inject({ method: 'PATCH', url: '/api/me', ...raw, payload });
    t.equal(answer.statusCode, 400, field);
  }
  t.ok(actions(service).includes('user_updated'));
});

t.test('a name that was taken in the meantime is refused', async (t) => {
  const service = await aServiceInTime();
  const people: Person[] = [];
  for (const name of ['a', 'b', 'c']) people.push(await aPerson(service, name));
  const answers = await Promise.all(
    people.map((who) => as(service, who)('PATCH', '/api/me', { username: 'x' })),
  );
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 400, 400]);
});
