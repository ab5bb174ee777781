import { inspect } from 'node:util';
import { Secret } from 'otpauth';
import t from 'tap';
import {
  actions,
  aServiceInTime,
  codeAt,
  from,
  logIn,
  STEP_MS,
  withMfa,
} from '../../support/service/factors.ts';
import { aPerson, as, auditOf, outcome, stateOf } from '../../support/service/service.ts';

const WRONG = [401, { error: 'invalid email or password', code: 'login_failed' }];

/** Ada has a second factor; `second` is the second step of a sign-in, `signIn` both. */
async function aScene() {
  const service = await aServiceInTime();
  const { who, secret, recoveryCodes } = await withMfa(service, 'ada');
  const waiting = async (): Promise<string> => (await logIn(service, 'ada')).json().mfa_token;
  const second = (mfa_token: string, code: unknown) => from(service)('/api/auth/mfa', { mfa_token, code });
  const signIn = async (code: unknown) => await second(await waiting(), code);
  /** The app's code now, or this many milliseconds later. */
  const codeNow = (laterMs = 0, of = secret) => codeAt(of, new Date(service.clock.now().getTime() + laterMs));
  return { service, call: as(service, who), who, secret, recoveryCodes, waiting, second, signIn, codeNow };
}

t.test('enrolling shows a secret, its address and a QR code; a code confirms it', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  for (const [method, url, code] of [
    ['POST', '/api/me/mfa/confirm', 'mfa_not_started'],
    ['DELETE', '/api/me/mfa', 'mfa_not_enabled'],
    ['POST', '/api/me/mfa/recovery-codes', 'mfa_not_enabled'],
  ] as const) {
    t.same(outcome(await call(method, url, { code: '123456' })), [409, code], url);
  }
  t.same((await call('GET', '/api/me/mfa')).json(), { enabled: false, recovery_codes_left: 0 });

  const enrolled = (await call('POST', '/api/me/mfa')).json();
  t.match(enrolled, {
    secret: /^[A-Z2-7]{32}$/,
    otpauth_uri: /^otpauth:\/\/totp\/Berth:ada%40example\.org\?issuer=Berth&secret=[A-Z2-7]{32}&/,
    qr_svg: /^<svg .*<\/svg>\s*$/s,
  });
  t.notOk((await call('GET', '/api/me')).json().mfa_enabled, 'not on yet');
  t.equal((await logIn(service, 'ada')).json().mfa_required, undefined, 'nor asked for');

  const code = codeAt(enrolled.secret, service.clock.now());
  const bad = String((Number(code) + 1) % 1_000_000).padStart(6, '0');
  const refused = await call('POST', '/api/me/mfa/confirm', { code: bad });
  t.same([refused.statusCode, refused.json()], [403, { error: 'wrong code', code: 'wrong_code' }]);

  const confirmed = await call('POST', '/api/me/mfa/confirm', { code });
  t.equal(confirmed.statusCode, 200);
  const codes: string[] = confirmed.json().recovery_codes;
  t.equal(new Set(codes).size, 10);
  for (const one of codes) t.match(one, /^[a-km-np-z2-9]{4}(-[a-km-np-z2-9]{4}){3}$/);
  t.ok((await call('GET', '/api/me')).json().mfa_enabled);
  t.same((await call('GET', '/api/me/mfa')).json(), { enabled: true, recovery_codes_left: 10 });

  const already = [409, { error: 'a second factor is already on', code: 'mfa_already_enabled' }];
  for (const answer of [
    await call('POST', '/api/me/mfa'),
    await call('POST', '/api/me/mfa/confirm', { code }),
  ])
    t.same([answer.statusCode, answer.json()], already);
});

t.test('a sign-in with a second factor waits for it, and opens with a code', async (t) => {
  const { service, recoveryCodes, second, codeNow } = await aScene();
  const waiting = await logIn(service, 'ada');
  t.equal(waiting.statusCode, 200);
  const body = waiting.json();
  t.match(body, { mfa_required: true, mfa_token: /^[\w-]{43}$/, methods: ['totp', 'recovery_code'] });
  t.equal(Date.parse(body.expires_at) - service.clock.now().getTime(), 5 * 60_000);
  t.same(Object.keys(body).sort(), ['expires_at', 'methods', 'mfa_required', 'mfa_token']);
  t.same(waiting.cookies, [], 'no refresh token either');
  const { mfa_token } = body;
  const refresh = await from(service, { cookie: mfa_token })('/api/auth/refresh');
  t.equal(refresh.statusCode, 401, 'nor is the waiting token one');

  const done = await second(mfa_token, codeNow());
  t.equal(done.statusCode, 200);
  t.match(done.json(), { token: String, session_id: String, user: { username: 'ada' } });
  t.match(done.cookies, [{ name: 'berth_refresh', httpOnly: true, path: '/api/auth', sameSite: 'Strict' }]);
  const again = await second(mfa_token, codeNow());
  t.same([again.statusCode, again.json()], WRONG, 'the waiting token is used up');
  t.equal((await second(mfa_token, recoveryCodes[0])).statusCode, 401, 'for any code');
});

t.test('a user disabled meanwhile does not get in', async (t) => {
  const { service, who, waiting, second, codeNow } = await aScene();
  const mfaToken = await waiting();
  await service.ports.storage.repositories.users.change(who.id, { disabled: true });
  const answer = await second(mfaToken, codeNow());
  t.same([answer.statusCode, answer.json()], WRONG);
  t.match(auditOf(service, 'login_failed'), [{ details: 'disabled' }]);
});

t.test('turning the factor off needs a code, and ends pending sign-ins for good', async (t) => {
  const { service, call, waiting, second, signIn, codeNow } = await aScene();
  const mfaToken = await waiting();
  t.equal((await call('DELETE', '/api/me/mfa')).json().error, 'code is required');
  t.equal((await call('DELETE', '/api/me/mfa', { code: '000' })).statusCode, 403);
  t.same((await call('DELETE', '/api/me/mfa', { code: codeNow() })).json(), { enabled: false });
  t.equal((await second(mfaToken, codeNow())).statusCode, 401);
  t.match((await logIn(service, 'ada')).json(), { token: String }, 'the password is enough again');
  t.same((await call('GET', '/api/me/mfa')).json(), { enabled: false, recovery_codes_left: 0 });

  const { secret } = (await call('POST', '/api/me/mfa')).json();
  await call('POST', '/api/me/mfa/confirm', { code: codeNow(-STEP_MS, secret) });
  t.equal((await second(mfaToken, codeNow(0, secret))).statusCode, 401, 'also when it is on again');
  t.equal((await signIn(codeNow(0, secret))).statusCode, 200);
});

t.test('the second step takes either a code or a passkey', async (t) => {
  const service = await aServiceInTime();
  const neither = await from(service)('/api/auth/mfa', { mfa_token: 'x' });
  t.match(
    [neither.statusCode, neither.json()],
    [400, { error: 'code is required', fields: { code: String } }],
  );
  const none = await from(service)('/api/auth/mfa', {});
  t.same([none.statusCode, none.json().error], [400, 'mfa_token is required']);
});

t.test('neither the secret nor a recovery code is stored readably', async (t) => {
  const { service, secret, recoveryCodes } = await aScene();
  const state = stateOf(service);
  const stored = inspect(state, { depth: null, maxArrayLength: null, maxStringLength: null });
  t.ok(stored.includes('sealedSecret'));
  const plain = Buffer.from(Secret.fromBase32(secret).bytes).toString('hex');
  const undashed = recoveryCodes.map((one) => one.replaceAll('-', ''));
  for (const text of [secret, plain, ...recoveryCodes, ...undashed]) t.notOk(stored.includes(text));
});

t.test('a code is accepted once, in its step and one before or after', async (t) => {
  const { service, signIn, codeNow } = await aScene();
  service.clock.advance(5 * STEP_MS);
  for (const [step, status, what] of [
    [-2, 401, 'two steps ago'],
    [2, 401, 'two steps ahead'],
    [-1, 200, 'one step ago'],
    [-1, 401, 'the same again'],
    [1, 200, 'one step ahead'],
    [0, 401, 'one that is older than the last accepted'],
  ] as const)
    t.equal((await signIn(codeNow(step * STEP_MS))).statusCode, status, what);
});

t.test('a pending sign-in ends after five minutes, and after ten wrong tries', async (t) => {
  const { service, recoveryCodes, waiting, second, codeNow } = await aScene();
  const late = await waiting();
  service.clock.advance(5 * 60_000);
  t.equal((await second(late, codeNow())).statusCode, 401);
  const mfaToken = await waiting();
  for (let tries = 0; tries < 10; tries += 1) {
    const answer = await second(mfaToken, 'aaaa-aaaa-aaaa-aaaa');
    t.same([answer.statusCode, answer.json()], WRONG);
  }
  const answer = await second(mfaToken, recoveryCodes[0]);
  t.same([answer.statusCode, answer.json()], WRONG, 'even the right code is too late');
});

t.test('five wrong app codes cause growing delays; a recovery code still opens', async (t) => {
  const { service, call, recoveryCodes, signIn, codeNow } = await aScene();
  const right = codeNow();
  const bad = String((Number(right) + 7) % 1_000_000).padStart(6, '0');
  for (let tries = 0; tries < 5; tries += 1) t.equal((await signIn(bad)).statusCode, 401);
  const slowed = await signIn(right);
  t.same([slowed.statusCode, slowed.json().code, slowed.headers['retry-after']], [429, 'rate_limited', '1']);
  const disable = await call('DELETE', '/api/me/mfa', { code: right });
  t.equal(disable.statusCode, 429, 'and with a session as well');
  service.clock.advance(1_000);
  t.equal((await signIn(bad)).statusCode, 401);
  t.equal((await signIn(right)).headers['retry-after'], '2');
  t.equal((await signIn(recoveryCodes[0])).statusCode, 200);
  service.clock.advance(2_000);
  t.equal((await signIn(right)).statusCode, 200, 'after the wait the code opens');
});

t.test('a recovery code works once, however it is typed, and new ones end the old', async (t) => {
  const { service, call, recoveryCodes, signIn, codeNow } = await aScene();
  const [first = '', second = '', third = ''] = recoveryCodes;
  t.equal((await signIn(` ${first.toUpperCase().replaceAll('-', ' ')} `)).statusCode, 200);
  t.equal((await signIn(first)).statusCode, 401);
  t.equal((await signIn(second)).statusCode, 200);
  t.same((await call('GET', '/api/me/mfa')).json(), { enabled: true, recovery_codes_left: 8 });
  t.equal(actions(service).filter((action) => action === 'recovery_code_used').length, 2);
  const { recovery_codes: renewed } = (
    await call('POST', '/api/me/mfa/recovery-codes', { code: codeNow() })
  ).json();
  t.equal(renewed.length, 10);
  t.equal((await signIn(third)).statusCode, 401);
  t.equal((await signIn(renewed[0])).statusCode, 200);
});
