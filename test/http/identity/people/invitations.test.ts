import t from 'tap';
import { aServiceInTime, type From, from, type InTime, logIn } from '../../../support/service/factors.ts';
import { refusesByField } from '../../../support/service/refusals.ts';
import {
  again,
  anAdmin,
  anApiToken,
  aPerson,
  as,
  auditOf,
  type Bearer,
  ORIGIN,
  outcome,
  person,
  stateOf,
} from '../../../support/service/service.ts';

const INVITATIONS = '/api/admin/invitations';
const HOUR_MS = 3_600_000;
const FRIEND: From = { ip: '198.51.100.9' };

const NOT_VALID = [404, 'link_not_valid'];
const codeIn = (url: string): string => url.split('#code=')[1] ?? '';

/** An administrator who invites; `accept` is by somebody with the link. */
async function aScene() {
  const service = await aServiceInTime();
  const root = await anAdmin(service);
  const invite = async (asked: object = {}, who: Bearer = root) => {
    const answer = await as(service, who)('POST', INVITATIONS, asked);
    return { answer, ...answer.json(), code: codeIn(answer.json().url ?? '') };
  };
  const accept = (code: string, who: object = person('ada'), where: From = FRIEND) =>
    from(service, where)('/api/auth/invitations/accept', { code, ...who });
  return { service, root, invite, accept };
}

const invitationOf = async (service: InTime, root: Bearer, id: string) =>
  (await as(service, root)('GET', INVITATIONS))
    .json()
    .invitations.find((one: { id: string }) => one.id === id);

t.test('only the invitations that can still be used are listed on request', async (t) => {
  const { service, root, invite, accept } = await aScene();
  const ids = new Set<string>();
  for (let count = 0; count < 3; count += 1) ids.add((await invite()).id);
  const { code } = await invite();
  await accept(code);
  const { id: withdrawn } = await invite();
  await as(service, root)('DELETE', `${INVITATIONS}/${withdrawn}`);
  const open: string[] = [];
  let cursor = '';
  do {
    const page = (await as(service, root)('GET', `${INVITATIONS}?state=open&limit=2${cursor}`)).json();
    open.push(...page.invitations.map(({ id }: { id: string }) => id));
    cursor = page.next_cursor === null ? '' : `&cursor=${page.next_cursor}`;
  } while (cursor !== '');
  t.same(open, [...ids].reverse());
  t.equal((await as(service, root)('GET', `${INVITATIONS}?state=used`)).statusCode, 400);
});

t.test('an invitation makes an account, although registration is closed', async (t) => {
  const { service, root, invite, accept } = await aScene();
  const { answer, id, code, url } = await invite({ role: 'user', tier: 'pro' });
  t.equal(answer.statusCode, 201);
  t.match(url, new RegExp(`^${ORIGIN}/invite#code=[\\w-]{43}$`));
  t.match(answer.headers, { 'cache-control': 'no-store' });
  t.match(await invitationOf(service, root, id), {
    state: 'open',
    tier: 'pro',
    email: null,
    user: null,
    created_by: { id: root.id, username: 'root' },
  });
  const offer = await from(service, FRIEND)('/api/auth/invitations/check', { code });
  t.match(offer.json(), { role: 'user', tier: 'pro', email: null, username: null, invited_by: 'root' });
  const joined = await accept(code);
  t.equal(joined.statusCode, 201);
  t.match(joined.json(), { token: String, user: { username: 'ada', tier: 'pro', role: 'user' } });
  t.equal(joined.cookies[0]?.name, 'berth_refresh');
  t.equal((await logIn(service, 'ada')).statusCode, 200);
  t.match(await invitationOf(service, root, id), { state: 'used', user: { username: 'ada' } });
  t.match(auditOf(service, 'invitation_accepted'), [{ userId: joined.json().user.id, details: id }]);
});

t.test('an invitation is accepted once: not again, and by one of several at the same time', async (t) => {
  const { service, invite, accept } = await aScene();
  const { code } = await invite();
  const names = ['ada', 'bob', 'cyd', 'dan'];
  const answers = await Promise.all(names.map((name) => accept(code, person(name))));
  t.equal(answers.filter(({ statusCode }) => statusCode === 201).length, 1);
  for (const answer of answers.filter(({ statusCode }) => statusCode !== 201)) {
    t.same(outcome(answer), NOT_VALID);
  }
  t.same(outcome(await accept(code, person('eve'))), NOT_VALID, 'replayed');
  t.same(outcome(await from(service)('/api/auth/invitations/check', { code })), NOT_VALID);
  const state = stateOf(service);
  t.equal(state.users.length, 2, 'one account beside the administrator');
});

t.test('a withdrawn, late or foreign invitation looks like any wrong code', async (t) => {
  const { service, root, invite, accept } = await aScene();
  const withdrawn = await invite();
  for (let times = 0; times < 2; times += 1) {
    const answer = await as(service, root)('DELETE', `${INVITATIONS}/${withdrawn.id}`);
    t.same([answer.statusCode, answer.json()], [200, { id: withdrawn.id, withdrawn: true }]);
  }
  const late = await invite({ expires_in_hours: 1 });
  service.clock.advance(HOUR_MS);
  const elsewhere = await (await aScene()).invite();
  const bodies = new Set<string>();
  for (const { code } of [withdrawn, late, elsewhere, { code: 'x'.repeat(43) }, { code: '' }]) {
    const answer = await accept(code);
    t.same(code === '' ? [answer.statusCode] : outcome(answer), code === '' ? [400] : NOT_VALID);
    if (code !== '') bodies.add(answer.body);
  }
  t.equal(bodies.size, 1);
  t.match(await invitationOf(service, root, late.id), { state: 'expired' });
});

t.test('a bound invitation is for one address and name', async (t) => {
  const { invite, accept } = await aScene();
  const { code } = await invite({ email: 'ada@example.org', username: 'ada' });
  const forwarded = await accept(code, person('eve'));
  t.same([forwarded.statusCode, Object.keys(forwarded.json().fields)], [400, ['email', 'username']]);
  t.equal((await accept(code, { ...person('ada'), email: 'ADA@example.org' })).statusCode, 201);
});

t.test('what is refused leaves the invitation open', async (t) => {
  const { invite, accept } = await aScene();
  const { code } = await invite();
  await refusesByField<object>(t, (who) => accept(code, who), [
    [{ ...person('ada'), password: 'short' }, 'password'],
    [{ ...person('ada'), email: 'no address' }, 'email'],
    [person('root'), 'email'],
    [{ ...person('ada'), username: 'ROOT' }, 'username'],
  ]);
  t.equal((await accept(code)).statusCode, 201);
});

t.test('an API token invites users, never administrators', async (t) => {
  const { service, root, invite, accept } = await aScene();
  const token = await anApiToken(service, root, { scopes: ['admin'] });
  t.equal((await invite({}, token)).answer.statusCode, 201);
  t.same(outcome((await invite({ role: 'admin' }, token)).answer), [403, 'login_token_required']);
  const admin = as(service, token);
  const newAdmin = { ...person('eve'), role: 'admin', password: undefined };
  t.same(outcome(await admin('POST', '/api/admin/users', newAdmin)), [403, 'login_token_required']);
  const ada = await aPerson(service, 'ada');
  const promoted = await admin('PATCH', `/api/admin/users/${ada.id}`, { role: 'admin' });
  t.same(outcome(promoted), [403, 'login_token_required']);
  t.match((await as(service, root)('GET', INVITATIONS)).json().invitations, { length: 1 });
  const { code, answer } = await invite({ role: 'admin' });
  t.equal(answer.statusCode, 201, 'after a recent sign-in');
  t.match((await accept(code, person('bob'))).json(), { user: { role: 'admin', tier: 'enterprise' } });
});

t.test('an old sign-in confirms before it invites an administrator', async (t) => {
  const { service, root, invite } = await aScene();
  service.clock.advance(14 * 60_000);
  const renewed = await service.http.inject({
    method: 'POST',
    url: '/api/auth/refresh',
    cookies: { berth_refresh: root.cookie },
  });
  service.clock.advance(2 * 60_000);
  const late = { token: renewed.json().token as string };
  const asked = { role: 'admin' };
  t.same(outcome((await invite(asked, late)).answer), [403, 'confirmation_required']);
  t.same(outcome((await invite({ ...asked, password: 'wrong' }, late)).answer), [403, 'wrong_password']);
  t.equal((await invite({ ...asked, password: person('root').password }, late)).answer.statusCode, 201);
  t.equal((await invite({}, late)).answer.statusCode, 201, 'a user needs none');
});

t.test('the invitations of an administrator end with the rights', async (t) => {
  const { service, root, invite, accept } = await aScene();
  const change = (id: string, body: object) => as(service, root)('PATCH', `/api/admin/users/${id}`, body);
  for (const end of [{ role: 'user' }, { disabled: true }]) {
    const name = Object.keys(end).join();
    const eve = await aPerson(service, `eve-${name}`);
    await change(eve.id, { role: 'admin' });
    const { code } = await invite({ role: 'admin' }, await again(service, eve, `eve-${name}`));
    t.equal((await change(eve.id, end)).statusCode, 200);
    t.same(outcome(await accept(code)), NOT_VALID, name);
  }
});

t.test('guessing codes is slowed like signing in', async (t) => {
  const { invite, accept } = await aScene();
  const { code } = await invite();
  const guesses: number[] = [];
  for (let n = 0; n < 25; n += 1) guesses.push((await accept(`wrong-${n}`)).statusCode);
  t.same([guesses[19], guesses[24]], [404, 429]);
  const slowed = await accept(code);
  t.same(outcome(slowed), [429, 'rate_limited'], 'even the right one');
  t.match(slowed.headers, { 'retry-after': /^\d+$/ });
  t.equal((await accept(code, person('ada'), { ip: '203.0.113.7' })).statusCode, 201, 'others are not');
});

t.test('no code is stored or recorded', async (t) => {
  const { service, invite, accept } = await aScene();
  const { code } = await invite();
  await accept(code);
  const state = stateOf(service);
  const stored = JSON.stringify(state, (_key, value) => (value instanceof Map ? [...value] : value));
  t.notOk(stored.includes(code));
});

t.test('faults of an invitation are reported', async (t) => {
  const { service, root, invite } = await aScene();
  await refusesByField<object>(t, async (asked) => (await invite(asked)).answer, [
    [{ tier: 'gold' }, 'tier'],
    [{ role: 'root' }, 'role'],
    [{ email: 'nobody' }, 'email'],
    [{ username: 'a b' }, 'username'],
    [{ expires_in_hours: 0 }, 'expires_in_hours'],
    [{ expires_in_hours: 721 }, 'expires_in_hours'],
    [{ id: 'x' }, 'id'],
  ]);
  t.same((await as(service, root)('GET', INVITATIONS)).json(), { invitations: [], next_cursor: null });
  const none = await as(service, root)('DELETE', `${INVITATIONS}/x`);
  t.same(outcome(none), [404, 'invitation_not_found']);
});
