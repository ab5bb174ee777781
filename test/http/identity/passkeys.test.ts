import t from 'tap';
import {
  AT,
  aServiceInTime,
  authenticator,
  codeAt,
  from,
  logIn,
  register,
  signIn,
  type Tampering,
  withMfa,
} from '../../support/service/factors.ts';
import { aPerson, aService, as, auditOf, stateOf } from '../../support/service/service.ts';

const wrong = { error: 'invalid email or password', code: 'login_failed' };
const refused = [401, wrong];
const ALONE = '/api/auth/passkey';

type Answer = { readonly statusCode: number; json(): unknown };
const outcome = (answer: Answer) => [answer.statusCode, answer.json()];

/** Ada with a passkey, and on request a second factor; `verify` signs in by passkey alone. */
async function aKeyOfAda({ mfa = false } = {}) {
  const service = await aServiceInTime();
  const enrolled = mfa ? await withMfa(service, 'ada') : { who: await aPerson(service, 'ada'), secret: '' };
  const ask = from(service);
  return {
    service,
    ask,
    ...enrolled,
    call: as(service, enrolled.who),
    ...(await register(service, enrolled.who)),
    options: async () => (await ask(`${ALONE}/options`)).json(),
    verify: async (credential: object) => (await ask(`${ALONE}/verify`, { credential })).statusCode,
  };
}

/** A pending sign-in of Ada's, whose second factor is her passkey. */
async function aWaitingSignIn() {
  const scene = await aKeyOfAda({ mfa: true });
  const waiting = (await logIn(scene.service, 'ada')).json();
  const { mfa_token } = waiting;
  return {
    ...scene,
    waiting,
    /** A new challenge for it. */
    asked: async () => (await scene.ask('/api/auth/mfa/options', { mfa_token })).json(),
    second: (given: object) => scene.ask('/api/auth/mfa', { mfa_token, ...given }),
  };
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
});

t.test('a passkey that verified its user signs in alone, even with a second factor on', async (t) => {
  const { service, call, who, key, passkey, ask, options } = await aKeyOfAda({ mfa: true });
  const asked = await options();
  t.match(asked, { challenge: String, rpId: 'localhost', userVerification: 'required' });
  t.notOk(asked.allowCredentials, 'it asks for any: nobody learns who has one');
  service.clock.advance(1000);
  const done = await ask(`${ALONE}/verify`, { credential: key.get(asked) });
  t.equal(done.statusCode, 200);
  t.match(done.json(), { token: String, session_id: String, user: { id: who.id } });
  t.match(done.cookies, [{ name: 'berth_refresh' }]);
  const [listed] = (await call('GET', '/api/me/passkeys')).json().passkeys;
  t.same(listed, { ...passkey, last_used_at: service.clock.now().toISOString() });
});

t.test('an unproven passkey does not sign in', async (t) => {
  const { service, key, options, verify } = await aKeyOfAda();
  const cases: readonly [string, Tampering][] = [
    ['without the user verified', { verified: false }],
    ['without the user present', { present: false, verified: false }],
    ['at another origin', { origin: 'http://evil.example' }],
    ['at the same host without its port', { origin: 'http://localhost' }],
    ['for another party', { rpId: 'evil.example' }],
    ['as an answer to a registration', { type: 'webauthn.create' }],
  ];
  for (const [name, tampering] of cases)
    t.same(outcome(await signIn(service, key, tampering)), refused, name);
  const good = key.get(await options());
  const altered = (change: object) => ({ ...good, response: { ...good.response, ...change } });
  const signature = good.response.signature.replace(/^.{8}/, 'AAAAAAAA');
  t.equal(await verify(altered({ signature })), 401, 'forged');
  t.equal(await verify(good), 401, 'its challenge is used up');
  const { response, ...rest } = key.get(await options());
  const handle = { ...rest, response: { ...response, userHandle: 'AAAAAAAAAAAAAAAAAAAAAA' } };
  t.equal(await verify(handle), 401, "another's handle");
});

t.test('a challenge is answered once, within five minutes, and for its purpose', async (t) => {
  const { service, call, key, options, verify } = await aKeyOfAda();
  const asked = await options();
  t.equal(await verify(key.get(asked)), 200);
  t.equal(await verify(key.get(asked)), 401, 'again');
  const old = await options();
  service.clock.advance(5 * 60_000);
  t.equal(await verify(key.get(old)), 401, 'late');
  t.equal(await verify(key.get({ challenge: 'a'.repeat(43), rpId: 'localhost' })), 401, 'its own');
  const { challenge } = (await call('POST', '/api/me/passkeys/options')).json();
  t.equal(await verify(key.get({ challenge, rpId: 'localhost' })), 401, 'one for registering');
});

for (const [name, uses] of [
  [
    'a count that goes back gives a copy away',
    [
      [7, 200],
      [7, 401],
      [3, 401],
      [0, 401],
      [8, 200],
    ],
  ],
  [
    'an authenticator that does not count may sign in again and again',
    [
      [0, 200],
      [0, 200],
    ],
  ],
] as const) {
  t.test(name, async (t) => {
    const { service, key } = await aKeyOfAda();
    for (const [count, status] of uses)
      t.equal((await signIn(service, key, { count })).statusCode, status, `${count}`);
  });
}

t.test('a disabled user does not sign in by passkey', async (t) => {
  const { service, who, key } = await aKeyOfAda();
  await service.ports.storage.repositories.users.change(who.id, { disabled: true });
  t.same(outcome(await signIn(service, key)), refused);
  t.match(auditOf(service, 'login_failed'), [{ details: 'disabled' }]);
});

t.test('where browsers offer no passkeys, the answer names the setting', async (t) => {
  const service = await aService({}, { publicUrl: 'http://192.0.2.7:8080' });
  const call = as(service, await aPerson(service, 'ada'));
  const asked = { challenge: 'x', rp: { id: 'localhost' }, user: { id: 'x' } };
  const credential = authenticator(AT).create(asked);
  for (const answer of [
    await call('POST', '/api/me/passkeys/options'),
    await call('POST', '/api/me/passkeys/verify', { credential }),
    await from(service)('/api/auth/passkey/options'),
  ]) {
    t.match(
      [answer.statusCode, answer.json()],
      [409, { code: 'passkeys_unavailable', error: /BERTH_PUBLIC_URL/ }],
    );
  }
});

t.test('a registration without a valid challenge of this user is refused', async (t) => {
  const service = await aServiceInTime();
  const ada = as(service, await aPerson(service, 'ada'));
  const mallory = as(service, await aPerson(service, 'mallory'));
  const key = authenticator(AT);
  const options = async () => (await ada('POST', '/api/me/passkeys/options')).json();
  const rejected = [400, { error: 'the passkey was not accepted', code: 'passkey_rejected' }];
  const verify = async (call: typeof ada, credential: object) =>
    outcome(await call('POST', '/api/me/passkeys/verify', { credential }));
  t.same(await verify(mallory, key.create(await options())), rejected, "another user's challenge");
  for (const tampering of [
    { origin: 'http://evil.example' },
    { rpId: 'evil.example' },
    { type: 'webauthn.get' },
    { present: false },
  ]) {
    const name = JSON.stringify(tampering);
    t.same(await verify(ada, key.create(await options(), tampering)), rejected, name);
  }
  const login = (await from(service)('/api/auth/passkey/options')).json();
  const asked = { ...login, rp: { id: 'localhost' }, user: { id: 'x' } };
  t.same(await verify(ada, key.create(asked)), rejected, 'a challenge for signing in');
  const once = key.create(await options());
  t.equal((await verify(ada, once))[0], 201);
  t.same(await verify(ada, once), rejected, 'again');
  t.equal((await ada('GET', '/api/me/passkeys')).json().passkeys.length, 1);
});

t.test('no attestation is requested, and no certificate read', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  const verify = async (statement: 'self' | 'certificate') => {
    const options = (await call('POST', '/api/me/passkeys/options')).json();
    const credential = authenticator(AT).create(options, { statement });
    return (await call('POST', '/api/me/passkeys/verify', { credential })).statusCode;
  };
  t.equal(await verify('self'), 201, 'signed by the key itself');
  t.equal(await verify('certificate'), 400);
});

t.test('a passkey belongs to one user, and a user has at most twenty', async (t) => {
  const { service, who, call, passkey } = await aKeyOfAda();
  const bob = as(service, await aPerson(service, 'bob'));
  const fresh = authenticator(AT);
  const credential = fresh.create((await bob('POST', '/api/me/passkeys/options')).json());
  const state = stateOf(service);
  for (const one of state.passkeys) Object.assign(one, { credentialId: credential.id });
  const answer = await bob('POST', '/api/me/passkeys/verify', { credential });
  t.same([answer.statusCode, answer.json().code], [409, 'passkey_registered'], `it is ${passkey.id}`);
  for (let count = 1; count < 20; count += 1) await register(service, who);
  const more = (await call('POST', '/api/me/passkeys/options')).json();
  const full = await call('POST', '/api/me/passkeys/verify', { credential: fresh.create(more) });
  t.same([full.statusCode, full.json().code], [409, 'passkey_limit_reached']);
});

t.test('a passkey is a second factor: after the password, without verifying its user', async (t) => {
  const { service, secret, key, waiting, asked, second } = await aWaitingSignIn();
  t.same(waiting.methods, ['totp', 'recovery_code', 'passkey']);
  const options = await asked();
  t.match(options.allowCredentials, [{ id: key.keys[0]?.id.toString('base64url') }]);
  const credential = key.get(options, { verified: false });
  t.equal((await second({ credential, code: '123456' })).statusCode, 400, 'not both at once');
  const done = await second({ credential });
  t.same([done.statusCode, done.json().user.username], [200, 'ada']);
  t.equal((await second({ credential })).statusCode, 401, 'used up');
  t.equal((await second({ code: codeAt(secret, service.clock.now()) })).statusCode, 401, 'for any code');
});

t.test("as a second factor only the user's own passkey counts, for this sign-in's challenge", async (t) => {
  const { service, key, asked, ask, options, second, verify } = await aWaitingSignIn();
  const bob = await withMfa(service, 'bob');
  const { key: foreign } = await register(service, bob.who);
  const { mfa_token } = (await logIn(service, 'bob')).json();
  const crossed = await ask('/api/auth/mfa', { mfa_token, credential: foreign.get(await asked()) });
  t.same(outcome(crossed), refused, 'what another sign-in was asked');
  t.same(outcome(await second({ credential: foreign.get(await asked()) })), refused, "another's passkey");
  t.same(outcome(await second({ credential: foreign.get(await options()) })), refused);
  t.same(outcome(await ask('/api/auth/mfa/options', { mfa_token: 'x' })), refused, 'an unknown sign-in');
  t.equal(await verify(key.get(await asked())), 401, 'and it does not sign in alone');
});
