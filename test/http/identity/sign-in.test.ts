import t from 'tap';
import {
  anAdmin,
  aPerson,
  aService,
  as,
  auditOf,
  outcome,
  person,
  stateOf,
  statusOf,
  type TestService,
} from '../../support/service/service.ts';
import { valuesOf } from '../../support/values.ts';

const post = (service: TestService, url: string, payload: object) =>
  as(service, null)('POST', `/api/auth/${url}`, payload);

t.test('the printed code makes the first administrator, once', async (t) => {
  const service = await aService();
  const needsSetUp = async () =>
    (await as(service, null)('GET', '/api/auth/options')).json().setup_required as boolean;
  const check = async (code: unknown) => (await post(service, 'setup/check', { code })).json();
  t.ok(await needsSetUp());
  const code = await service.registration.newSetupCode();
  for (const wrong of ['', 'x', `${code}x`, (code ?? '').toUpperCase()]) {
    const answer = await post(service, 'setup', { code: wrong, ...person('root') });
    t.same([answer.statusCode, answer.json().code], [403, 'setup_code_rejected'], wrong);
  }
  t.same(await check(code), { valid: true }, 'it can be checked before the form is filled in');
  t.match(await check(`${code}x`), { code: 'setup_code_rejected' });
  t.match(await check(7), { code: 'validation_failed', fields: { code: String } });
  const faulty = await post(service, 'setup', { code, email: 'x', username: '-', password: 'short' });
  t.same([faulty.statusCode, Object.keys(faulty.json().fields)], [400, ['email', 'username', 'password']]);
  const made = await post(service, 'setup', { code, ...person('root') });
  t.equal(made.statusCode, 201, 'neither has used it up');
  t.match(made.json().user, { username: 'root', role: 'admin', tier: 'enterprise' });
  t.notOk(await needsSetUp());
  t.same(outcome(await post(service, 'setup', { code, ...person('eve') })), [403, 'setup_done']);
  t.match(await check(code), { code: 'setup_done' });
  t.equal(await service.registration.newSetupCode(), null, 'no code any more');
});

t.test('of two concurrent set-ups one succeeds', async (t) => {
  const service = await aService();
  const code = await service.registration.newSetupCode();
  const answers = await Promise.all(
    ['a', 'b', 'c'].map((name) => post(service, 'setup', { code, ...person(name) })),
  );
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [201, 403, 403]);
});

t.test('a newer code replaces the older one', async (t) => {
  const service = await aService();
  const older = await service.registration.newSetupCode();
  const newer = await service.registration.newSetupCode();
  t.equal((await post(service, 'setup', { code: older, ...person('a') })).statusCode, 403);
  t.equal((await post(service, 'setup', { code: newer, ...person('a') })).statusCode, 201);
});

t.test('registration is closed until an administrator opens it', async (t) => {
  const service = await aService();
  const root = await anAdmin(service);
  t.same(outcome(await post(service, 'register', person('ada'))), [403, 'registration_closed']);
  await as(service, root)('PATCH', '/api/admin/settings', { open_registration: true });
  const opened = await post(service, 'register', person('ada'));
  t.equal(opened.statusCode, 201);
  t.match(opened.json(), {
    token: /^[\w-]+\.[\w-]+\.[\w-]+$/,
    expires_at: String,
    session_id: /^[0-9a-f-]{36}$/,
    user: { username: 'ada', email: 'ada@example.org', role: 'user', tier: 'free', disabled_at: null },
  });
  t.notMatch(opened.body, /password|hash/);
});

t.test('every fault of a registration is named, and so is a taken email or name', async (t) => {
  const service = await aService();
  await aPerson(service, 'ada');
  const faults = async (body: object) => (await post(service, 'register', body)).json().fields;
  t.same(Object.keys(await faults({})), ['email', 'username', 'password']);
  t.same(await faults({ ...person('ada'), email: 'ADA@example.org' }), { email: 'is already in use' });
  t.same(await faults({ ...person('ADA'), email: 'b@example.org' }), { username: 'is already in use' });
  t.match(await faults({ ...person('bob'), role: 'admin' }), { role: 'is not a known field' });
  t.match(await faults({ ...person('bob'), tier: 'enterprise' }), { tier: String });
  for (const password of ['short', 'x'.repeat(1025), 12345678, null]) {
    t.match(await faults({ ...person('bob'), password }), { password: String }, JSON.stringify(password));
  }
  t.equal(
    (await post(service, 'register', { ...person('bob'), password: '  in  a  row  ' })).statusCode,
    201,
  );
});

t.test('a user signs in by email or username, in any case; the password is exact', async (t) => {
  const service = await aService();
  await aPerson(service, 'ada');
  const { email, password } = person('ada');
  const ids = new Set<string>();
  for (const login of [email, email.toUpperCase(), 'ada', 'ADA']) {
    const answer = await post(service, 'login', { email: login, password });
    t.equal(answer.statusCode, 200, login);
    ids.add(answer.json().session_id);
    t.equal(answer.headers['cache-control'], 'no-store');
  }
  t.equal(ids.size, 4, 'each sign-in is a session of its own');
  for (const wrong of [`${password} `, password.toUpperCase(), password.slice(1), '', ' ']) {
    const answer = await post(service, 'login', { email, password: wrong });
    t.same(
      [answer.statusCode, answer.body, answer.headers['set-cookie']],
      [401, '{"error":"invalid email or password","code":"login_failed"}', undefined],
      wrong,
    );
  }
  t.equal(auditOf(service, 'login_failed').length, 5);
});

t.test('only the right password learns that an account is disabled, and why', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const change = { disabled: true, disabledReason: 'your contract has ended' };
  await service.ports.storage.repositories.users.change(ada.id, change);
  const { email, password } = person('ada');
  const right = await post(service, 'login', { email, password });
  t.same(
    [right.statusCode, right.json(), right.cookies],
    [
      403,
      { error: 'this account is disabled', code: 'account_disabled', reason: 'your contract has ended' },
      [],
    ],
  );
  const wrong = await post(service, 'login', { email, password: 'not the password' });
  t.same(
    [wrong.statusCode, wrong.body],
    [401, '{"error":"invalid email or password","code":"login_failed"}'],
  );
  t.same(valuesOf(auditOf(service, 'login_failed'), 'details'), ['disabled', 'password']);
});

t.test('set-up code checks are limited', async (t) => {
  const service = await aService();
  await service.registration.newSetupCode();
  let last = 403;
  for (let asked = 0; asked < 40 && last === 403; asked += 1)
    last = (await post(service, 'setup/check', { code: 'x' })).statusCode;
  t.equal(last, 429);
});

t.test('the refresh cookie is sent to this service only, and hidden from scripts', async (t) => {
  for (const secureCookie of [false, true]) {
    const service = await aService({}, { secureCookie });
    await aPerson(service, 'ada');
    const { email, password } = person('ada');
    const answer = await post(service, 'login', { email, password });
    const [cookie, ...more] = answer.cookies;
    t.same(more, []);
    t.match(cookie, {
      name: 'berth_refresh',
      path: '/api/auth',
      httpOnly: true,
      sameSite: 'Strict',
      value: /^[\w-]{43}$/,
    });
    t.equal(cookie?.secure ?? false, secureCookie);
    t.same(cookie?.expires, new Date('2026-01-31T00:00:00Z'));
    t.equal(cookie?.domain, undefined);
    t.notMatch(answer.body, cookie?.value ?? '-');
  }
});

t.test('signing out ends the session and clears the cookie', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const answer = await as(service, ada)('POST', '/api/auth/logout');
  t.equal(answer.statusCode, 200);
  t.match(answer.cookies, [{ name: 'berth_refresh', value: '', path: '/api/auth', expires: new Date(0) }]);
  t.equal(await statusOf(service, ada), 401);
  t.equal((await as(service, ada)('POST', '/api/auth/logout')).statusCode, 401);
});

t.test('the configured administrator gets a valid name', async (t) => {
  for (const [email, username] of [
    ['boss@example.org', 'boss'],
    ['the.boss_1-2@example.org', 'the.boss_1-2'],
    ['a+b c@example.org', 'a-b-c'],
    ['@example.org', 'admin'],
  ] as const) {
    const service = await aService();
    await service.registration.ensureAdmin(email, 'correct horse battery');
    const state = stateOf(service);
    t.match(state.users, [{ email, username, role: 'admin' }]);
  }
});

t.test('the configured administrator signs in, and is made once', async (t) => {
  const service = await aService();
  await service.registration.ensureAdmin('the+boss@example.org', 'correct horse battery');
  await service.registration.ensureAdmin('other@example.org', 'correct horse battery');
  const login = (email: string) => post(service, 'login', { email, password: 'correct horse battery' });
  t.match((await login('the+boss@example.org')).json().user, {
    role: 'admin',
    username: 'the-boss',
    tier: 'enterprise',
  });
  t.equal((await login('other@example.org')).statusCode, 401);
});

t.test('an address is one account in every form of its letters', async (t) => {
  const service = await aService();
  await aPerson(service, 'ada');
  const register = (email: string) => post(service, 'register', { ...person('eve'), email });
  for (const email of ['ａｄａ@example.org', 'ada@ｅｘａｍｐｌｅ.org']) {
    const taken = await register(email);
    t.match([taken.statusCode, taken.json()], [400, { fields: { email: 'is already in use' } }], email);
    const { password } = person('ada');
    const entered = await post(service, 'login', { email, password });
    t.match([entered.statusCode, entered.json()], [200, { user: { username: 'ada' } }], email);
  }
});
