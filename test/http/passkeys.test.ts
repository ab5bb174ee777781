import t from 'tap';
import { authenticator, type Tampering } from '../support/authenticator.ts';
import { actions, aServiceInTime, codeAt, from, type InTime, logIn, withMfa } from '../support/factors.ts';
import { aPerson, aService, as, type Person, person } from '../support/service.ts';

const AT = 'http://localhost:8080';
const wrong = { error: 'invalid email or password', code: 'login_failed' };

async function register(service: InTime, who: Person, name = 'Laptop') {
  const key = authenticator(AT);
  const call = as(service, who);
  const options = (await call('POST', '/api/me/passkeys/options')).json();
  const made = await call('POST', '/api/me/passkeys/verify', { name, credential: key.create(options) });
  if (made.statusCode !== 201) throw new Error(`not registered: ${made.body}`);
  return { key, passkey: made.json() };
}

async function signIn(service: InTime, key: ReturnType<typeof authenticator>, tampering: Tampering = {}) {
  const options = (await from(service)('/api/auth/passkey/options')).json();
  return await from(service)('/api/auth/passkey/verify', { credential: key.get(options, tampering) });
}

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

t.test('a registration is refused that answers no challenge of this user, here', async (t) => {
  const service = await aServiceInTime();
  const ada = as(service, await aPerson(service, 'ada'));
  const mallory = as(service, await aPerson(service, 'mallory'));
  const key = authenticator(AT);
  const options = async () => (await ada('POST', '/api/me/passkeys/options')).json();
  const rejected = [400, { error: 'the passkey was not accepted', code: 'passkey_rejected' }];
  const verify = async (call: typeof ada, credential: object) => {
    const answer = await call('POST', '/api/me/passkeys/verify', { credential });
    return [answer.statusCode, answer.json()];
  };
  t.same(await verify(mallory, key.create(await options())), rejected, "another user's challenge");
  t.same(await verify(ada, key.create(await options(), { origin: 'http://evil.example' })), rejected);
  t.same(await verify(ada, key.create(await options(), { rpId: 'evil.example' })), rejected);
  t.same(await verify(ada, key.create(await options(), { type: 'webauthn.get' })), rejected);
  t.same(await verify(ada, key.create(await options(), { present: false })), rejected);
  const login = (await from(service)('/api/auth/passkey/options')).json();
  const asked = { ...login, rp: { id: 'localhost' }, user: { id: 'x' } };
  t.same(await verify(ada, key.create(asked)), rejected, 'a challenge for signing in');
  const once = key.create(await options());
  t.equal((await verify(ada, once))[0], 201);
  t.same(await verify(ada, once), rejected, 'again');
  t.equal((await ada('GET', '/api/me/passkeys')).json().passkeys.length, 1);
});

t.test(
  'a statement about the make of an authenticator is not asked for, and no certificate is looked at',
  async (t) => {
    const service = await aServiceInTime();
    const call = as(service, await aPerson(service, 'ada'));
    const verify = async (statement: 'self' | 'certificate') => {
      const options = (await call('POST', '/api/me/passkeys/options')).json();
      const credential = authenticator(AT).create(options, { statement });
      return (await call('POST', '/api/me/passkeys/verify', { credential })).statusCode;
    };
    t.equal(await verify('self'), 201, 'signed by the key itself');
    t.equal(await verify('certificate'), 400);
  },
);

t.test('a passkey belongs to one user, and a user has at most twenty', async (t) => {
  const service = await aServiceInTime();
  const ada = await aPerson(service, 'ada');
  const { key } = await register(service, ada);
  const [stored] = (service.ports.storage as unknown as { state: { passkeys: { credentialId: string }[] } })
    .state.passkeys;
  const bob = as(service, await aPerson(service, 'bob'));
  const options = (await bob('POST', '/api/me/passkeys/options')).json();
  const fresh = authenticator(AT);
  const credential = fresh.create(options);
  if (stored) stored.credentialId = credential.id;
  const answer = await bob('POST', '/api/me/passkeys/verify', { credential });
  t.same([answer.statusCode, answer.json().code], [409, 'passkey_registered']);
  t.ok(key);

  for (let count = 1; count < 20; count += 1) await register(service, ada);
  const more = (await as(service, ada)('POST', '/api/me/passkeys/options')).json();
  const full = await as(service, ada)('POST', '/api/me/passkeys/verify', { credential: fresh.create(more) });
  t.same([full.statusCode, full.json().code], [409, 'passkey_limit_reached']);
});

t.test('a passkey is a second factor: after the password, without verifying its user', async (t) => {
  const service = await aServiceInTime();
  const { who, secret } = await withMfa(service, 'ada');
  const { key } = await register(service, who);
  const waiting = (await logIn(service, 'ada')).json();
  t.same(waiting.methods, ['totp', 'recovery_code', 'passkey']);
  const { mfa_token } = waiting;
  const options = (await from(service)('/api/auth/mfa/options', { mfa_token })).json();
  t.match(options.allowCredentials, [{ id: key.keys[0]?.id.toString('base64url') }]);
  const credential = key.get(options, { verified: false });
  const both = await from(service)('/api/auth/mfa', { mfa_token, credential, code: '123456' });
  t.equal(both.statusCode, 400, 'not both at once');
  const done = await from(service)('/api/auth/mfa', { mfa_token, credential });
  t.same([done.statusCode, done.json().user.username], [200, 'ada']);
  t.equal((await from(service)('/api/auth/mfa', { mfa_token, credential })).statusCode, 401, 'used up');
  const code = codeAt(secret, service.clock.now());
  t.equal((await from(service)('/api/auth/mfa', { mfa_token, code })).statusCode, 401);
});

t.test("as a second factor only the user's own passkey counts, asked for this sign-in", async (t) => {
  const service = await aServiceInTime();
  const { who } = await withMfa(service, 'ada');
  await register(service, who);
  const { key: foreign } = await register(service, await aPerson(service, 'mallory'));
  const { mfa_token } = (await logIn(service, 'ada')).json();
  const options = (await from(service)('/api/auth/mfa/options', { mfa_token })).json();
  const stolen = await from(service)('/api/auth/mfa', { mfa_token, credential: foreign.get(options) });
  t.same([stolen.statusCode, stolen.json()], [401, wrong]);
  const unknown = await from(service)('/api/auth/mfa/options', { mfa_token: 'x' });
  t.same([unknown.statusCode, unknown.json()], [401, wrong]);
  const alone = (await from(service)('/api/auth/passkey/options')).json();
  const mixed = await from(service)('/api/auth/mfa', { mfa_token, credential: foreign.get(alone) });
  t.same([mixed.statusCode, mixed.json()], [401, wrong]);
});

t.test('an answer to what another sign-in was asked does not count', async (t) => {
  const service = await aServiceInTime();
  const [ada, bob] = [await withMfa(service, 'ada'), await withMfa(service, 'bob')];
  await register(service, ada.who);
  const { key } = await register(service, bob.who);
  const tokens = [(await logIn(service, 'ada')).json(), (await logIn(service, 'bob')).json()];
  const [asked, mine] = tokens.map(({ mfa_token }) => mfa_token);
  const options = (await from(service)('/api/auth/mfa/options', { mfa_token: asked })).json();
  const answer = await from(service)('/api/auth/mfa', { mfa_token: mine, credential: key.get(options) });
  t.same([answer.statusCode, answer.json()], [401, wrong]);
});

t.test('turning the second factor off ends sign-ins that wait, for passkeys too', async (t) => {
  const service = await aServiceInTime();
  const { who, secret } = await withMfa(service, 'ada');
  const { key } = await register(service, who);
  const { mfa_token } = (await logIn(service, 'ada')).json();
  const options = (await from(service)('/api/auth/mfa/options', { mfa_token })).json();
  await as(service, who)('DELETE', '/api/me/mfa', { code: codeAt(secret, service.clock.now()) });
  const answer = await from(service)('/api/auth/mfa', { mfa_token, credential: key.get(options) });
  t.same([answer.statusCode, answer.json()], [401, wrong]);
});

t.test('a second-factor answer does not sign in alone', async (t) => {
  const service = await aServiceInTime();
  const { who } = await withMfa(service, 'ada');
  const { key } = await register(service, who);
  const { mfa_token } = (await logIn(service, 'ada')).json();
  const options = (await from(service)('/api/auth/mfa/options', { mfa_token })).json();
  const answer = await from(service)('/api/auth/passkey/verify', { credential: key.get(options) });
  t.same([answer.statusCode, answer.json()], [401, wrong]);
});

t.test('a disabled user does not sign in by passkey', async (t) => {
  const service = await aServiceInTime();
  const who = await aPerson(service, 'ada');
  const { key } = await register(service, who);
  const { state } = service.ports.storage as unknown as { state: { users: { disabledAt: Date | null }[] } };
  state.users = state.users.map((user) => ({ ...user, disabledAt: service.clock.now() }));
  const answer = await signIn(service, key);
  t.same([answer.statusCode, answer.json()], [401, wrong]);
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
  t.ok(person);
});
