import { inspect } from 'node:util';
import { Secret } from 'otpauth';
import t from 'tap';
import { actions, aServiceInTime, codeAt, from, logIn, STEP_MS, withMfa } from '../support/factors.ts';
import { aPerson, as, person } from '../support/service.ts';
import { auditOf } from '../support/sign-ins.ts';

const wrong = { error: 'invalid email or password', code: 'login_failed' };

t.test('enrolling shows a secret, its address and a picture; a code confirms it', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
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
  t.ok(actions(service).includes('mfa_enabled'));
});

t.test('a second factor that is on cannot be enrolled or confirmed over', async (t) => {
  const service = await aServiceInTime();
  const { who, secret } = await withMfa(service, 'ada');
  const call = as(service, who);
  const again = { error: 'a second factor is on already', code: 'mfa_already_enabled' };
  const enrol = await call('POST', '/api/me/mfa');
  t.same([enrol.statusCode, enrol.json()], [409, again]);
  const confirm = await call('POST', '/api/me/mfa/confirm', { code: codeAt(secret, service.clock.now()) });
  t.same([confirm.statusCode, confirm.json()], [409, again]);
});

t.test('confirming what was not begun, and disabling what is not on, are 409', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aPerson(service, 'ada'));
  for (const [method, url, code] of [
    ['POST', '/api/me/mfa/confirm', 'mfa_not_started'],
    ['DELETE', '/api/me/mfa', 'mfa_not_enabled'],
    ['POST', '/api/me/mfa/recovery-codes', 'mfa_not_enabled'],
  ] as const) {
    const answer = await call(method, url, { code: '123456' });
    t.same([answer.statusCode, answer.json().code], [409, code], url);
  }
});

t.test('a sign-in with the factor on waits for it, and opens with a code', async (t) => {
  const service = await aServiceInTime();
  const { secret, recoveryCodes } = await withMfa(service, 'ada');
  const waiting = await logIn(service, 'ada');
  t.equal(waiting.statusCode, 200);
  const body = waiting.json();
  t.match(body, { mfa_required: true, mfa_token: /^[\w-]{43}$/, methods: ['totp', 'recovery_code'] });
  t.equal(Date.parse(body.expires_at) - service.clock.now().getTime(), 5 * 60_000);
  t.same(Object.keys(body).sort(), ['expires_at', 'methods', 'mfa_required', 'mfa_token']);
  t.same(waiting.cookies, [], 'no refresh token either');

  const { mfa_token } = body;
  const code = codeAt(secret, service.clock.now());
  const done = await from(service)('/api/auth/mfa', { mfa_token, code });
  t.equal(done.statusCode, 200);
  t.match(done.json(), { token: String, session_id: String, user: { username: 'ada' } });
  t.match(done.cookies, [{ name: 'berth_refresh', httpOnly: true, path: '/api/auth', sameSite: 'Strict' }]);
  const again = await from(service)('/api/auth/mfa', { mfa_token, code });
  t.same([again.statusCode, again.json()], [401, wrong], 'the waiting token is used up');
  const [unused] = recoveryCodes;
  const other = await from(service)('/api/auth/mfa', { mfa_token, code: unused });
  t.equal(other.statusCode, 401, 'for any code');
});

t.test('a waiting token opens nothing but the second step', async (t) => {
  const service = await aServiceInTime();
  await withMfa(service, 'ada');
  const { mfa_token: token } = (await logIn(service, 'ada')).json();
  const call = as(service, { token });
  for (const [method, url] of [
    ['GET', '/api/me'],
    ['POST', '/api/me/mfa'],
    ['POST', '/api/me/mfa/confirm'],
    ['DELETE', '/api/me/mfa'],
    ['POST', '/api/me/passkeys/options'],
    ['POST', '/api/me/password'],
    ['GET', '/api/containers'],
    ['GET', '/api/tokens'],
    ['GET', '/api/tokens/validate'],
    ['POST', '/api/sessions/lock'],
    ['POST', '/api/auth/logout'],
  ] as const) {
    t.equal((await call(method, url, method === 'GET' ? undefined : {})).statusCode, 401, `${method} ${url}`);
  }
  const refresh = await from(service, { cookie: token })('/api/auth/refresh');
  t.equal(refresh.statusCode, 401, 'nor is it a refresh token');
});

t.test('a user who is disabled meanwhile does not get in', async (t) => {
  const service = await aServiceInTime();
  const { who, secret } = await withMfa(service, 'ada');
  const { mfa_token } = (await logIn(service, 'ada')).json();
  await service.ports.storage.repositories.users.change(who.id, { disabled: true });
  const code = codeAt(secret, service.clock.now());
  const answer = await from(service)('/api/auth/mfa', { mfa_token, code });
  t.same([answer.statusCode, answer.json()], [401, wrong]);
  t.match(auditOf(service, 'login_failed'), [{ details: 'disabled' }]);
});

t.test('turning it off needs a code, and ends sign-ins that wait', async (t) => {
  const service = await aServiceInTime();
  const { who, secret } = await withMfa(service, 'ada');
  const call = as(service, who);
  const { mfa_token } = (await logIn(service, 'ada')).json();
  t.equal((await call('DELETE', '/api/me/mfa')).json().error, 'code is required');
  t.equal((await call('DELETE', '/api/me/mfa', { code: '000' })).statusCode, 403);
  const code = codeAt(secret, service.clock.now());
  t.same((await call('DELETE', '/api/me/mfa', { code })).json(), { enabled: false });
  t.ok(actions(service).includes('mfa_disabled'));
  t.equal((await from(service)('/api/auth/mfa', { mfa_token, code })).statusCode, 401);
  t.match((await logIn(service, 'ada')).json(), { token: String }, 'the password is enough again');
  t.same((await call('GET', '/api/me/mfa')).json(), { enabled: false, recovery_codes_left: 0 });
});

t.test('a sign-in that waited is over for good, also when the factor is turned on again', async (t) => {
  const service = await aServiceInTime();
  const { who, secret } = await withMfa(service, 'ada');
  const call = as(service, who);
  const { mfa_token } = (await logIn(service, 'ada')).json();
  await call('DELETE', '/api/me/mfa', { code: codeAt(secret, service.clock.now()) });
  const renewed = (await call('POST', '/api/me/mfa')).json();
  const [before, now] = [new Date(service.clock.now().getTime() - STEP_MS), service.clock.now()];
  await call('POST', '/api/me/mfa/confirm', { code: codeAt(renewed.secret, before) });
  const answer = await from(service)('/api/auth/mfa', { mfa_token, code: codeAt(renewed.secret, now) });
  t.equal(answer.statusCode, 401);
  const fresh = (await logIn(service, 'ada')).json().mfa_token;
  const code = codeAt(renewed.secret, now);
  t.equal((await from(service)('/api/auth/mfa', { mfa_token: fresh, code })).statusCode, 200);
});

t.test('a wrong password looks the same with and without a second factor', async (t) => {
  const service = await aServiceInTime();
  await withMfa(service, 'ada');
  await aPerson(service, 'bob');
  const bad = { password: 'not the password' };
  const answers = await Promise.all(
    ['ada', 'bob', 'nobody'].map((name) => logIn(service, name, {}, { ...person(name), ...bad })),
  );
  for (const answer of answers) t.same([answer.statusCode, answer.json()], [401, wrong]);
});

t.test('the second step wants a code or a passkey, and not both', async (t) => {
  const service = await aServiceInTime();
  const neither = await from(service)('/api/auth/mfa', { mfa_token: 'x' });
  t.match(
    [neither.statusCode, neither.json()],
    [400, { error: 'code is required', fields: { code: String } }],
  );
  const none = await from(service)('/api/auth/mfa', {});
  t.same([none.statusCode, none.json().error], [400, 'mfa_token is required']);
});

t.test('neither the secret nor a recovery code is in what is stored', async (t) => {
  const service = await aServiceInTime();
  const { secret, recoveryCodes } = await withMfa(service, 'ada');
  const { state } = service.ports.storage as unknown as { state: object };
  const stored = inspect(state, { depth: null, maxArrayLength: null, maxStringLength: null });
  t.ok(stored.includes('sealedSecret'));
  const plain = Buffer.from(Secret.fromBase32(secret).bytes).toString('hex');
  for (const text of [
    secret,
    plain,
    ...recoveryCodes,
    ...recoveryCodes.map((one) => one.replaceAll('-', '')),
  ]) {
    t.notOk(stored.includes(text));
  }
});
