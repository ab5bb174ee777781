import t, { type Test } from 'tap';
import { SHORT_RSA_KEY, SSH_KEYS, wire } from '../../support/samples/samples.ts';
import {
  actions,
  aServiceInTime,
  codeAt,
  from,
  type InTime,
  logIn,
  register,
  STEP_MS,
  withMfa,
} from '../../support/service/factors.ts';
import { refusesByField } from '../../support/service/refusals.ts';
import {
  again,
  anApiToken,
  aPerson,
  as,
  type Person,
  person,
  refresh,
  stateOf,
} from '../../support/service/service.ts';
import { valuesOf } from '../../support/values.ts';

const NEW = 'an even better one';
const { password: OLD } = person('ada');
const body = { old_password: OLD, new_password: NEW };
const PASSWORD = '/api/me/password';

const [[type, fingerprint, base64] = ['', '', '']] = SSH_KEYS;
const public_key = `${type} ${base64} ada@laptop`;
const KEYS = '/api/me/ssh-keys';

async function aScene() {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  return { service, ada, call: as(service, ada) };
}

t.test('a changed password opens, the old one does not, and the other sessions end', async (t) => {
  const { service, ada, call } = await aScene();
  const other = as(service, (await logIn(service, 'ada')).json());
  const token = as(service, await anApiToken(service, ada));
  t.equal((await other('GET', '/api/me')).statusCode, 200);
  const before = actions(service).length;
  const changed = await call('POST', PASSWORD, body);
  t.same([changed.statusCode, changed.json()], [200, { changed: true }]);
  t.same(actions(service).slice(before), ['password_changed', 'sessions_revoked_others']);
  t.equal((await call('GET', '/api/me')).statusCode, 200, 'this session stays');
  t.equal((await other('GET', '/api/me')).statusCode, 401);
  t.equal((await token('GET', '/api/me')).statusCode, 200, 'API tokens outlive a password');
  t.equal((await logIn(service, 'ada')).statusCode, 401);
  t.equal((await logIn(service, 'ada', {}, { ...person('ada'), password: NEW })).statusCode, 200);
  const state = stateOf(service);
  t.same(valuesOf(state.sessions, 'revokedReason'), [null, 'password_changed', null]);
});

t.test('a pending sign-in ends with the old password', async (t) => {
  const service = await aServiceInTime();
  const { who, recoveryCodes } = await withMfa(service, 'ada');
  const { mfa_token } = (await logIn(service, 'ada')).json();
  await as(service, who)('POST', PASSWORD, body);
  t.equal((await from(service)('/api/auth/mfa', { mfa_token, code: recoveryCodes[0] })).statusCode, 401);
});

t.test('the old password must be right and the new one good, or nothing changes', async (t) => {
  const { service, call } = await aScene();
  const other = as(service, (await logIn(service, 'ada')).json());
  const wrong = await call('POST', PASSWORD, { ...body, old_password: 'not it, really' });
  t.same([wrong.statusCode, wrong.json()], [403, { error: 'wrong password', code: 'wrong_password' }]);
  for (const new_password of ['short', 'x'.repeat(1025), '', 'a\u0000bcdefgh', 5]) {
    const answer = await call('POST', PASSWORD, { ...body, new_password });
    t.match([answer.statusCode, answer.json()], [400, { fields: { new_password: String } }]);
  }
  const { error } = (await call('POST', PASSWORD, { new_password: NEW })).json();
  t.equal(error, 'old_password is required');
  t.equal((await other('GET', '/api/me')).statusCode, 200);
  t.equal((await logIn(service, 'ada')).statusCode, 200);
});

t.test('a profile shows its settings, and its name can change to a free one', async (t) => {
  const { service, ada, call } = await aScene();
  await aPerson(service, 'bob');
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
    const text = `{"${field}":"admin"}` as unknown as object;
    const answer = await call('PATCH', '/api/me', text, { 'content-type': 'application/json' });
    t.equal(answer.statusCode, 400, field);
  }
  t.ok(actions(service).includes('user_updated'));
  const before = actions(service).length;
  const unchanged = await call('PATCH', '/api/me', {});
  t.same([unchanged.statusCode, unchanged.json().username], [200, 'ada.l']);
  t.equal(actions(service).length, before, 'a change of nothing is none');
});

t.test('an SSH key is added, listed and removed', async (t) => {
  const { call } = await aScene();
  const listed = async () => (await call('GET', KEYS)).json().ssh_keys;
  t.same(await listed(), []);
  const added = await call('POST', KEYS, { public_key });
  t.equal(added.statusCode, 201);
  const made = added.json();
  t.match(made, {
    id: /^[0-9a-f-]{36}$/,
    name: 'ada@laptop',
    type,
    public_key: `${type} ${base64}`,
    fingerprint,
    created_at: '2026-01-01T00:00:00.000Z',
  });
  t.same(await listed(), [made]);
  const removed = await call('DELETE', `${KEYS}/${made.id.toUpperCase()}`);
  t.same([removed.statusCode, removed.json()], [200, { id: made.id, deleted: true }]);
  t.same(await listed(), []);
});

t.test('a fault of an SSH key names its field, and nothing is stored', async (t) => {
  const { call } = await aScene();
  await refusesByField<object>(t, (body) => call('POST', KEYS, body), [
    [{}, 'public_key'],
    [{ public_key: 1 }, 'public_key'],
    [{ public_key: SHORT_RSA_KEY }, 'public_key'],
    [{ public_key, name: 'a\nb' }, 'name'],
    [{ public_key, user_id: 'x' }, 'user_id'],
  ]);
  t.same((await call('GET', KEYS)).json(), { ssh_keys: [] });
});

t.test('an SSH key belongs to one account: a second time it is a conflict, for anybody', async (t) => {
  const { service, call } = await aScene();
  const answers = await Promise.all([1, 2, 3].map(() => call('POST', KEYS, { public_key })));
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, 409, 409]);
  t.match(answers.find(({ statusCode }) => statusCode === 409)?.json(), { code: 'ssh_key_exists' });
  const eve = as(service, await aPerson(service, 'eve'));
  t.equal((await eve('POST', KEYS, { public_key })).statusCode, 409);
});

t.test('a user has at most a hundred SSH keys', async (t) => {
  const { call } = await aScene();
  const add = (n: number) =>
    call('POST', KEYS, { public_key: `ssh-ed25519 ${wire('ssh-ed25519', Buffer.alloc(32, n))}` });
  for (let n = 0; n < 100; n += 1) t.equal((await add(n)).statusCode, 201);
  const more = await add(100);
  t.same([more.statusCode, more.json().code], [409, 'ssh_key_limit_reached']);
});

const MINUTE_MS = 60_000;
const { password } = person('ada');

const needs = (by: string) => ({
  error: `${by} is required to confirm that it is you`,
  code: 'confirmation_required',
  fields: { [by]: 'is required to confirm that it is you' },
});

/** The same session, with a new login token. */
async function refreshed(service: InTime, who: Person): Promise<Person> {
  const answer = await refresh(service, who);
  const cookie = answer.cookies[0]?.value ?? '';
  return { ...who, cookie, token: answer.json().token };
}

/** Changes of how the account is opened, tried with a login token and these proofs. */
const CHANGES: Readonly<Record<string, (service: InTime, who: Person, given: object) => Promise<Answer>>> = {
  'adding a passkey': (service, who, given) => as(service, who)('POST', '/api/me/passkeys/options', given),
  'removing a passkey': async (service, who, given) => {
    const [passkey] = (await as(service, who)('GET', '/api/me/passkeys')).json().passkeys;
    return await as(service, who)('DELETE', `/api/me/passkeys/${passkey.id}`, given);
  },
  'asking whether it is still them': (service, who, given) =>
    as(service, who)('POST', '/api/me/confirm', given),
  'turning the second factor on': async (service, who, given) => {
    const { secret } = (await as(service, who)('POST', '/api/me/mfa')).json();
    const code = codeAt(secret, service.clock.now());
    return await as(service, who)('POST', '/api/me/mfa/confirm', { code, ...given });
  },
  'approving the sign-in of a program': async (service, who, given) => {
    const { user_code } = (await from(service)('/api/auth/device', { machine: 'x' })).json();
    return await as(service, who)('POST', '/api/auth/device/approve', { user_code, ...given });
  },
};
type Answer = Awaited<ReturnType<ReturnType<typeof as>>>;

const outcome = (answer: Answer) => [answer.statusCode, answer.statusCode < 400 ? 'done' : answer.json()];

/** Ada, who has a passkey and signed in some minutes ago; `late` is a new login token. */
async function somebody(minutes = 0) {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  await register(service, ada);
  service.clock.advance(minutes * MINUTE_MS);
  const late = async () => await refreshed(service, ada);
  return { service, ada, late };
}

for (const [what, change] of Object.entries(CHANGES)) {
  t.test(`${what} needs a recent sign-in or the password`, async (t) => {
    const { service, ada } = await somebody(15);
    const late = await refreshed(service, ada);
    t.same(outcome(await change(service, late, {})), [403, needs('password')], 'refreshing is no sign-in');
    const wrong = [403, { error: 'wrong password', code: 'wrong_password' }];
    t.same(outcome(await change(service, late, { password: `${password}!` })), wrong);
    t.same((await change(service, late, { password: '' })).statusCode, 400);
    t.same(outcome(await change(service, late, { password })), [200, 'done']);
  });

  t.test(`${what} needs nothing more for a quarter of an hour after signing in`, async (t) => {
    const { service, ada } = await somebody(20);
    const fresh = await again(service, ada, 'ada');
    service.clock.advance(15 * MINUTE_MS - 1);
    t.same(outcome(await change(service, fresh, {})), [200, 'done']);
  });
}

t.test('with a second factor a confirmation takes a code, and each code once', async (t: Test) => {
  const service = await aServiceInTime();
  const { who, secret, recoveryCodes } = await withMfa(service, 'ada');
  await register(service, who);
  service.clock.advance(20 * MINUTE_MS);
  const late = await refreshed(service, who);
  const add = CHANGES['adding a passkey'];
  const remove = CHANGES['removing a passkey'];
  if (add === undefined || remove === undefined) return t.fail('nothing to try');
  t.same(outcome(await add(service, late, {})), [403, needs('code')]);
  t.same(outcome(await remove(service, late, { password })), [403, needs('code')], 'not the password');
  const wrong = [403, { error: 'wrong code', code: 'wrong_code' }];
  t.same(outcome(await add(service, late, { code: '000000' })), wrong);
  const code = codeAt(secret, service.clock.now());
  t.same(outcome(await add(service, late, { code, password })), [200, 'done']);
  t.same(outcome(await remove(service, late, { code })), wrong, 'it is used up');
  t.same(outcome(await remove(service, late, { code: recoveryCodes[0] })), [200, 'done']);
  service.clock.advance(STEP_MS);
  const again = { code: codeAt(secret, service.clock.now()) };
  const none = await as(service, late)(
    'DELETE',
    '/api/me/passkeys/99999999-9999-4999-8999-999999999999',
    again,
  );
  t.equal(none.statusCode, 404);
});

t.test('a password replaced during its check confirms nothing', async (t) => {
  const { service, late } = await somebody(20);
  const call = as(service, await late());
  const change = { old_password: password, new_password: 'another one of mine' };
  const [changed, confirmed] = await Promise.all([
    call('POST', '/api/me/password', change),
    call('POST', '/api/me/confirm', { password }),
  ]);
  t.same([changed.statusCode, confirmed.statusCode, confirmed.json().code], [200, 403, 'wrong_password']);
});

t.test('neither unlocking nor a confirmation counts as a sign-in', async (t) => {
  const { service, late } = await somebody(20);
  const call = as(service, await late());
  t.equal((await call('POST', '/api/me/mfa')).statusCode, 200, 'starting with a new secret takes nothing');
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  await call('POST', '/api/sessions/lock');
  t.equal((await call('POST', '/api/sessions/unlock', { passcode: '1234' })).statusCode, 200);
  t.equal((await call('POST', '/api/me/passkeys/options')).statusCode, 403);
  t.equal((await call('POST', '/api/me/passkeys/options', { password })).statusCode, 200);
  t.equal((await call('POST', '/api/me/passkeys/options')).statusCode, 403);
});

t.test('wrong confirmations count with those of a password change', async (t) => {
  const { service, late } = await somebody(20);
  const call = as(service, await late());
  const wrong = { password: 'not it at all' };
  for (let tries = 0; tries < 5; tries += 1) {
    t.equal((await call('POST', '/api/me/passkeys/options', wrong)).statusCode, 403);
  }
  const refused = await call('POST', '/api/me/passkeys/options', { password });
  t.same([refused.statusCode, refused.json().code], [429, 'rate_limited']);
  const change = { old_password: password, new_password: 'another one of mine' };
  t.equal((await call('POST', '/api/me/password', change)).statusCode, 429);
  service.clock.advance(2_000);
  t.equal((await call('POST', '/api/me/passkeys/options', { password })).statusCode, 200);
  const failed = actions(service).filter((action) => action === 'confirmation_failed');
  t.equal(failed.length, 5, 'and each is on record');
});
