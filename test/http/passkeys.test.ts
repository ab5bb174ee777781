import t from 'tap';
import type { Tampering } from '../support/authenticator.ts';
import { actions, aServiceInTime, from, withMfa } from '../support/factors.ts';
import { register, signIn } from '../support/passkeys.ts';
import { aPerson, aService, as } from '../support/service.ts';
import { auditOf } from '../support/sign-ins.ts';

const wrong = { error: 'invalid email or password', code: 'login_failed' };

t.test('a passkey is registered, listed, renamed and removed', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const call = as(service, ada);
  t.same((await call('GET', '/api/me/passkeys')).json(), { passkeys: [] });

  const options = (await call('POST', '/api/me/passkeys/options')).json();
  t.match(options, {
    challenge: /^[\w-]{43}$/,
    rp: { id: 'localhost', name: 'Berth' },
    user: {
      name: 'ada@example.org',
      id: Buffer.from(ada.id.replaceAll('-', ''), 'hex').toString('base64url'),
    },
    attestation: 'none',
  });
  const { passkey, key } = await register(service, ada, '  Laptop ');
  t.match(passkey, { id: /^[0-9a-f-]{36}$/, name: 'Laptop', backed_up: false, last_used_at: null });
  t.same((await call('GET', '/api/me/passkeys')).json(), { passkeys: [passkey] });
  const next = (await call('POST', '/api/me/passkeys/options')).json();
  t.match(next.excludeCredentials, [{ id: key.keys[0]?.id.toString('base64url'), type: 'public-key' }]);

  const url = `/api/me/passkeys/${passkey.id}`;
  t.same((await call('PATCH', url, { name: 'Desk' })).json(), { ...passkey, name: 'Desk' });
  for (const name of ['', '  ', 'x'.repeat(101), 'a\u0007b']) {
    t.equal((await call('PATCH', url, { name })).statusCode, 400, JSON.stringify(name));
  }
  t.same((await call('DELETE', url)).json(), { id: passkey.id, deleted: true });
  t.same((await call('GET', '/api/me/passkeys')).json(), { passkeys: [] });
  t.equal((await signIn(service, key)).statusCode, 401, 'and it opens nothing any more');
  const done = actions(service);
  for (const action of ['passkey_added', 'passkey_renamed', 'passkey_removed']) t.ok(done.includes(action));
});

t.test("another user's passkey is answered like an unknown one", async (t) => {
  const service = await aServiceInTime();
  const { passkey } = await register(service, await aPerson(service, 'ada'));
  const mallory = as(service, await aPerson(service, 'mallory'));
  for (const id of [passkey.id, '99999999-9999-4999-8999-999999999999', 'x', '%00', "' or 1=1"]) {
    for (const method of ['PATCH', 'DELETE'] as const) {
      const payload = method === 'PATCH' ? { name: 'mine' } : undefined;
      const answer = await mallory(method, `/api/me/passkeys/${encodeURIComponent(id)}`, payload);
      const body = { error: 'passkey not found', code: 'passkey_not_found' };
      t.same([answer.statusCode, answer.json()], [404, body], `${method} ${id}`);
    }
  }
});

t.test('a passkey that verified its user signs in alone, also where a second factor is on', async (t) => {
  const service = await aServiceInTime();
  const { who } = await withMfa(service, 'ada');
  const { key, passkey } = await register(service, who);
  const options = (await from(service)('/api/auth/passkey/options')).json();
  t.match(options, { challenge: String, rpId: 'localhost', userVerification: 'required' });
  t.notOk(options.allowCredentials, 'it asks for any: nobody learns who has one');
  service.clock.advance(1000);
  const done = await from(service)('/api/auth/passkey/verify', { credential: key.get(options) });
  t.equal(done.statusCode, 200);
  t.match(done.json(), { token: String, session_id: String, user: { id: who.id } });
  t.match(done.cookies, [{ name: 'berth_refresh' }]);
  const [listed] = (await as(service, who)('GET', '/api/me/passkeys')).json().passkeys;
  t.same(listed, { ...passkey, last_used_at: service.clock.now().toISOString() });
});

t.test('what does not prove the passkey does not sign in', async (t) => {
  const service = await aServiceInTime();
  const { key } = await register(service, await aPerson(service, 'ada'));
  const cases: readonly [string, Tampering][] = [
    ['without the user verified', { verified: false }],
    ['without the user present', { present: false, verified: false }],
    ['at another origin', { origin: 'http://evil.example' }],
    ['at the same host without its port', { origin: 'http://localhost' }],
    ['for another party', { rpId: 'evil.example' }],
    ['as an answer to a registration', { type: 'webauthn.create' }],
  ];
  for (const [name, tampering] of cases) {
    const answer = await signIn(service, key, tampering);
    t.same([answer.statusCode, answer.json()], [401, wrong], name);
  }
  const options = (await from(service)('/api/auth/passkey/options')).json();
  const good = key.get(options);
  const forged = {
    ...good,
    response: { ...good.response, signature: good.response.signature.replace(/^.{8}/, 'AAAAAAAA') },
  };
  t.equal(
    (await from(service)('/api/auth/passkey/verify', { credential: forged })).statusCode,
    401,
    'forged',
  );
  t.equal(
    (await from(service)('/api/auth/passkey/verify', { credential: good })).statusCode,
    401,
    'its challenge is used up',
  );
  const handle = (await from(service)('/api/auth/passkey/options')).json();
  const other = key.get(handle);
  const claimed = { ...other, response: { ...other.response, userHandle: 'AAAAAAAAAAAAAAAAAAAAAA' } };
  t.equal(
    (await from(service)('/api/auth/passkey/verify', { credential: claimed })).statusCode,
    401,
    "another's handle",
  );
});

t.test('a challenge is answered once, within five minutes, and for what it was asked', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const { key } = await register(service, ada);
  const verify = (credential: object) => from(service)('/api/auth/passkey/verify', { credential });
  const options = (await from(service)('/api/auth/passkey/options')).json();
  t.equal((await verify(key.get(options))).statusCode, 200);
  t.equal((await verify(key.get(options))).statusCode, 401, 'again');
  const old = (await from(service)('/api/auth/passkey/options')).json();
  service.clock.advance(5 * 60_000);
  t.equal((await verify(key.get(old))).statusCode, 401, 'late');
  t.equal(
    (await verify(key.get({ challenge: 'a'.repeat(43), rpId: 'localhost' }))).statusCode,
    401,
    'its own',
  );
  const registration = (await as(service, ada)('POST', '/api/me/passkeys/options')).json();
  const mixed = key.get({ challenge: registration.challenge, rpId: 'localhost' });
  t.equal((await verify(mixed)).statusCode, 401, 'one for registering');
});

t.test('a count that goes back gives a copy away', async (t) => {
  const service = await aServiceInTime();
  const { key } = await register(service, await aPerson(service, 'ada'));
  t.equal((await signIn(service, key, { count: 7 })).statusCode, 200);
  t.equal((await signIn(service, key, { count: 7 })).statusCode, 401, 'the same');
  t.equal((await signIn(service, key, { count: 3 })).statusCode, 401, 'a lower one');
  t.equal((await signIn(service, key, { count: 0 })).statusCode, 401, 'none');
  t.equal((await signIn(service, key, { count: 8 })).statusCode, 200, 'a higher one');
});

t.test('an authenticator that does not count may sign in again and again', async (t) => {
  const service = await aServiceInTime();
  const { key } = await register(service, await aPerson(service, 'ada'));
  for (const _ of [1, 2]) t.equal((await signIn(service, key, { count: 0 })).statusCode, 200);
});

t.test('a disabled user does not sign in by passkey', async (t) => {
  const service = await aServiceInTime();
  const who = await aPerson(service, 'ada');
  const { key } = await register(service, who);
  const { state } = service.ports.storage as unknown as { state: { users: { disabledAt: Date | null }[] } };
  state.users = state.users.map((user) => ({ ...user, disabledAt: service.clock.now() }));
  const answer = await signIn(service, key);
  t.same([answer.statusCode, answer.json()], [401, wrong]);
  t.match(auditOf(service, 'login_failed'), [{ details: 'disabled' }]);
});

t.test('where browsers offer no passkeys, the answer says what to set', async (t) => {
  const service = await aService({}, { publicUrl: 'http://192.0.2.7:8080' });
  const call = as(service, await aPerson(service, 'ada'));
  for (const answer of [
    await call('POST', '/api/me/passkeys/options'),
    await from(service)('/api/auth/passkey/options'),
  ]) {
    t.match(
      [answer.statusCode, answer.json()],
      [409, { code: 'passkeys_unavailable', error: /BERTH_PUBLIC_URL/ }],
    );
  }
});
