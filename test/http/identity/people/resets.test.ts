import t from 'tap';
import { connectMachine } from '../../../support/agent/scripted-agent.ts';
import { SSH_KEYS } from '../../../support/samples/samples.ts';
import {
  actions,
  aServiceInTime,
  codeAt,
  from,
  logIn,
  register,
  STEP_MS,
  signIn,
  withMfa,
} from '../../../support/service/factors.ts';
import {
  aGuest,
  again,
  anAdmin,
  anApiToken,
  aPerson,
  as,
  auditOf,
  type Bearer,
  outcome,
  person,
  sessionIdOf,
  stateOf,
  statusOf,
} from '../../../support/service/service.ts';
import { listening } from '../../../support/terminal/terminals.ts';

const LINKS = '/api/admin/reset-links';
const NEW = 'a new password, better';
const HOUR_MS = 3_600_000;

const NOT_VALID = [404, 'link_not_valid'];

/** Root resets, Ada has forgotten. */
async function aScene() {
  const service = await aServiceInTime();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  const make = async (id = ada.id, kind = 'password', who: Bearer = root) => {
    const answer = await as(service, who)('POST', `/api/admin/users/${id}/reset-links`, { kind });
    const { url = '', ...link } = answer.json();
    return { answer, ...link, url, code: url.split('#code=')[1] ?? '' };
  };
  const use = (code: string, password = NEW) => from(service)('/api/auth/resets/use', { code, password });
  return { service, root, ada, make, use };
}

t.test('a reset link sets a new password, and ends every other way in', async (t) => {
  const { service, root, ada, make, use } = await aScene();
  const token = await anApiToken(service, ada);
  const { code, id, url, answer } = await make();
  t.equal(answer.statusCode, 201);
  t.match(url, /\/reset#code=[\w-]{43}$/);
  t.equal(await statusOf(service, ada), 200, 'the link alone changes nothing');
  const offer = await from(service)('/api/auth/resets/check', { code });
  t.match(offer.json(), { kind: 'password', username: 'ada' });
  t.match((await use(code)).json(), { token: String, user: { username: 'ada' } });
  service.clock.advance(1_000);
  t.equal(await statusOf(service, ada), 401, 'earlier sessions');
  t.equal((await as(service, token)('GET', '/api/me')).statusCode, 401, 'API tokens');
  t.equal((await logIn(service, 'ada')).statusCode, 401, 'the old password');
  t.equal((await logIn(service, 'ada', {}, { ...person('ada'), password: NEW })).statusCode, 200);
  t.match((await as(service, root)('GET', LINKS)).json().reset_links, [
    { id, kind: 'password', state: 'used', user: { username: 'ada' }, created_by: { username: 'root' } },
  ]);
  t.match(auditOf(service, 'password_reset'), [{ userId: ada.id }]);
  const state = stateOf(service);
  t.match(
    state.events.map(({ type, data }) => [type, data]),
    [
      ['account_updated', { id: ada.id, name: 'ada', change: 'reset_link_created' }],
      ['account_updated', { change: 'password_reset' }],
    ],
  );
  t.notOk(JSON.stringify(state, (_key, value) => (value instanceof Map ? [...value] : value)).includes(code));
});

t.test('the answer of a reset lists what still opens the account', async (t) => {
  const { service, ada, make, use } = await aScene();
  const by = as(service, ada);
  await connectMachine(await listening(t, service), (await anApiToken(service, ada)).token);
  const [machine] = (await by('GET', '/api/containers')).json().containers;
  const onMachine = await by('POST', `/api/containers/${machine.db_id}/collaborations`, { mode: 'control' });
  const [type, , base64] = SSH_KEYS[0] ?? [];
  const key = (
    await by('POST', '/api/me/ssh-keys', { name: 'laptop', public_key: `${type} ${base64}` })
  ).json();
  const box = (await by('POST', '/api/containers', { name: 'box' })).json();
  const share = (await by('POST', `/api/containers/${box.db_id}/collaborations`, { mode: 'view' })).json();
  await anApiToken(service, ada);
  t.match((await use((await make()).code)).json(), {
    user: { username: 'ada' },
    remaining: [
      { kind: 'ssh_key', id: key.id, name: 'laptop', created_at: String },
      { kind: 'share_link', id: onMachine.json().id, name: machine.name, created_at: String },
      { kind: 'share_link', id: share.id, name: 'box', created_at: String },
    ],
  });
  const { who } = await withMfa(service, 'bob');
  const waiting = (await use((await make(who.id)).code)).json();
  t.match(waiting, { mfa_required: true });
  t.notOk('remaining' in waiting, 'nothing before the second factor');
});

t.test('a reset link works once, for a day, until it is withdrawn', async (t) => {
  const { service, root, make, use } = await aScene();
  const { code } = await make();
  const answers = await Promise.all([use(code), use(code), use(code)]);
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 1);
  t.same(outcome(await use(code)), NOT_VALID, 'replayed');
  const withdrawn = await make();
  t.equal((await as(service, root)('DELETE', `${LINKS}/${withdrawn.id}`)).statusCode, 200);
  t.same(outcome(await use(withdrawn.code)), NOT_VALID);
  const late = await make();
  service.clock.advance(24 * HOUR_MS);
  t.same(outcome(await use(late.code)), NOT_VALID);
  t.same(outcome(await from(service)('/api/auth/invitations/check', { code: late.code })), NOT_VALID);
});

t.test('the other open links of an account end with a used link, and with a changed password', async (t) => {
  const { service, root, ada, make, use } = await aScene();
  const [stolen, used, forBob] = [await make(), await make(), await make((await aPerson(service, 'bob')).id)];
  t.equal((await use(used.code)).statusCode, 200);
  t.same(outcome(await use(stolen.code)), NOT_VALID, 'after a used link');
  const { token } = (await logIn(service, 'ada', {}, { ...person('ada'), password: NEW })).json();
  const open = await make();
  const passwords = { old_password: NEW, new_password: 'my own again, at last' };
  t.equal((await as(service, { ...ada, token })('POST', '/api/me/password', passwords)).statusCode, 200);
  t.same(outcome(await use(open.code)), NOT_VALID, 'after a changed password');
  t.match((await as(service, root)('GET', LINKS)).json().reset_links, [
    { id: open.id, state: 'withdrawn' },
    { state: 'open' },
    { id: used.id, state: 'used' },
    { id: stolen.id, state: 'withdrawn' },
  ]);
  const listed = (await as(service, root)('GET', `${LINKS}?state=open`)).json().reset_links;
  t.same(
    listed.map(({ user }: { user: { username: string } }) => user.username),
    ['bob'],
  );
  t.equal((await use(forBob.code)).statusCode, 200, "another's stays");
});

t.test('a short password uses no link up', async (t) => {
  const { make, use } = await aScene();
  const { code } = await make();
  t.match((await use(code, 'short')).json(), { fields: { password: String } });
  t.equal((await use(code)).statusCode, 200);
});

t.test('after a new password the second factor is still asked for', async (t) => {
  const { service, make, use } = await aScene();
  const { who, secret } = await withMfa(service, 'bob');
  const { code } = await make(who.id);
  const waiting = (await use(code)).json();
  t.match(waiting, { mfa_required: true, mfa_token: String });
  t.notOk('token' in waiting);
  service.clock.advance(STEP_MS);
  const { mfa_token } = waiting;
  const second = { mfa_token, code: codeAt(secret, service.clock.now()) };
  t.equal((await from(service)('/api/auth/mfa', second)).statusCode, 200);
});

t.test('a reset of the second factor needs the password, and leaves none', async (t) => {
  const { service, ada, make, use } = await aScene();
  const { who } = await withMfa(service, 'bob');
  t.same(outcome((await make(ada.id, 'second_factor')).answer), [409, 'mfa_not_enabled']);
  const { code } = await make(who.id, 'second_factor');
  t.same(
    outcome(await use(code, 'a guess at it')),
    [403, 'wrong_password'],
    'a stolen link alone opens nothing',
  );
  t.match((await use(code, person('bob').password)).json(), { token: String, user: { username: 'bob' } });
  t.match((await logIn(service, 'bob')).json(), { token: String }, 'without a second step');
  service.clock.advance(1_000);
  t.equal(await statusOf(service, who), 401);
});

t.test('whoever kept a passkey through a reset loses the session with it', async (t) => {
  const { service, ada, make, use } = await aScene();
  const { passkey, key } = await register(service, ada);
  const owner = (await use((await make()).code)).json();
  const intruder = (await signIn(service, key)).json();
  t.equal(await statusOf(service, intruder), 200, 'the reset keeps the passkey');
  t.equal((await as(service, owner)('DELETE', `/api/me/passkeys/${passkey.id}`)).statusCode, 200);
  service.clock.advance(1_000);
  t.equal(await statusOf(service, intruder), 401);
  t.equal(await statusOf(service, owner), 200);
  t.equal(actions(service).at(-1), 'sessions_revoked_others');
});

t.test('a session of a passkey adds no way in while the owner looks through what stays', async (t) => {
  const { service, ada, make, use } = await aScene();
  const { key } = await register(service, ada);
  await use((await make()).code);
  const intruder = (await signIn(service, key)).json();
  const call = as(service, intruder);
  const token = { name: 'x', scopes: ['read'] };
  const add = (who: Bearer) => as(service, who)('POST', '/api/tokens', token).then(outcome);
  t.same(await add(intruder), [403, 'new_password_required']);
  const program = from(service);
  const { device_code, user_code } = (await program('/api/auth/device', { machine: 'x' })).json();
  t.equal((await call('POST', '/api/auth/device/approve', { user_code })).statusCode, 200);
  service.clock.advance(2_000);
  const device = (await program('/api/auth/device/token', { device_code })).json();
  t.same(await add(device), [403, 'new_password_required'], 'nor does a program that it signs in');
  const signedIn = (await logIn(service, 'ada', {}, { ...person('ada'), password: NEW })).json();
  t.same(await add(signedIn), [201, undefined], 'the new password may');
  const own = await sessionIdOf(service, intruder);
  t.equal((await call('DELETE', `/api/sessions/${own}`)).statusCode, 200, 'it may end itself');
  service.clock.advance(HOUR_MS);
  const later = (await signIn(service, key)).json();
  t.same(await add(later), [201, undefined], 'an hour later the passkey may');
});

t.test('a passkey that was added after the reset, or after a first password, is not barred', async (t) => {
  const { service, root, make, use } = await aScene();
  const created = await as(service, root)('POST', '/api/admin/users', {
    ...person('bob'),
    password: undefined,
  });
  const first = created.json().link.url.split('#code=')[1];
  for (const opened of [await use((await make()).code), await use(first)]) {
    service.clock.advance(1_000);
    const { user, ...owner } = opened.json();
    const { key } = await register(service, { ...owner, id: user.id });
    const session = (await signIn(service, key)).json();
    const made = await as(service, session)('POST', '/api/tokens', { name: 'x', scopes: ['read'] });
    t.same(outcome(made), [201, undefined], user.username);
  }
});

t.test('resets are for sign-ins, not for API tokens', async (t) => {
  const { service, root, ada, make } = await aScene();
  const other = await aPerson(service, 'bob');
  await as(service, root)('PATCH', `/api/admin/users/${other.id}`, { role: 'admin' });
  const token = await anApiToken(service, root, { scopes: ['admin'] });
  for (const id of [other.id, ada.id]) {
    t.same(outcome((await make(id, 'password', token)).answer), [403, 'login_token_required']);
  }
  t.same(outcome((await make(root.id)).answer), [409, 'own_account']);
  t.same(outcome((await make((await aGuest(service)).id)).answer), [403, 'account_required']);
  t.same(outcome((await make('x')).answer), [404, 'user_not_found']);
  t.equal((await make(other.id)).answer.statusCode, 201, "another administrator's");
});

t.test('a disabled user has no link, whichever of both comes first', async (t) => {
  const { service, root, ada, make, use } = await aScene();
  const { code } = await make();
  const change = (body: object) => as(service, root)('PATCH', `/api/admin/users/${ada.id}`, body);
  const [used, disabled] = await Promise.all([use(code), change({ disabled: true })]);
  t.equal(disabled.statusCode, 200);
  t.ok([200, 404].includes(used.statusCode));
  if (used.statusCode === 200) {
    service.clock.advance(1_000);
    t.equal((await as(service, used.json())('GET', '/api/me')).statusCode, 401, 'the new session ended, too');
  }
  t.same(outcome(await use(code)), NOT_VALID);
  t.same(outcome((await make()).answer), [409, 'user_disabled']);
  await change({ disabled: false });
  t.same(outcome(await use(code)), NOT_VALID, 'and an old link stays closed');
});

t.test('an administrator creates a user, who sets the first password', async (t) => {
  const { service, root, use } = await aScene();
  const create = (body: object) => as(service, root)('POST', '/api/admin/users', body);
  const { password, ...bob } = person('bob');
  const made = await create({ ...bob, tier: 'pro' });
  t.equal(made.statusCode, 201);
  t.match(made.json(), {
    user: {
      username: 'bob',
      tier: 'pro',
      role: 'user',
      password_set: false,
      containers: 0,
      max_containers: 10,
    },
    link: { kind: 'password', state: 'open', url: /\/reset#code=/ },
  });
  t.equal((await logIn(service, 'bob')).statusCode, 401, 'nobody signs in before');
  const code = made.json().link.url.split('#code=')[1];
  t.equal((await use(code, password)).statusCode, 200);
  await again(service, root, 'bob');
  t.match((await create(bob)).json(), { fields: { email: 'is already in use' } });
  t.match((await create({ ...bob, tier: 'gold', email: 'x' })).json(), {
    fields: { tier: String, email: String },
  });
});
