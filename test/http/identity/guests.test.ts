import t from 'tap';
import { aServiceInTime, from, type InTime } from '../../support/service/factors.ts';
import { aGuest, anAdmin, aPerson, as, type Bearer, small } from '../../support/service/service.ts';

const HOUR_MS = 3_600_000;
const EXPIRED = [403, { error: 'guest session expired', code: 'guest_session_expired' }];

t.test('a guest enters without an account, with the guest tier, for a day', async (t) => {
  const service = await aServiceInTime();
  await service.ports.storage.repositories.settings.change({ guestsEnabled: true });
  const answer = await from(service)('/api/auth/guest', {});
  t.equal(answer.statusCode, 200);
  const user = { email: null, username: /^guest-[0-9a-f]{10}$/, tier: 'guest', role: 'user' };
  t.match(answer.json(), { token: String, expires_at: String, session_id: String, user });
  t.match(answer.cookies, [{ name: 'berth_refresh', httpOnly: true }]);
  const me = (await as(service, await aGuest(service))('GET', '/api/me')).json();
  t.equal(Date.parse(me.guest_until) - service.clock.now().getTime(), 24 * HOUR_MS);
  const bare = await from(service)('/api/auth/guest');
  t.equal(bare.statusCode, 200, 'also without a body');
  const create = (name: string) => as(service, bare.json())('POST', '/api/containers', { name });
  t.equal((await create('one')).statusCode, 201);
  t.equal((await create('two')).json().code, 'container_limit_reached');
});

t.test('a guest may choose a free name', async (t) => {
  const service = await aServiceInTime();
  await aPerson(service, 'ada');
  t.equal(
    (await as(service, await aGuest(service, { username: 'eve' }))('GET', '/api/me')).json().username,
    'eve',
  );
  for (const username of ['ada', 'ADA', 'eve', '', 'a b', '-x', 'x'.repeat(40), 7, null]) {
    const answer = await from(service)('/api/auth/guest', { username });
    t.match([answer.statusCode, answer.json()], [400, { fields: { username: String } }], String(username));
  }
});

t.test('a guest has no official name, neither on entry nor later', async (t) => {
  const service = await aServiceInTime();
  const guest = as(service, await aGuest(service));
  const reserved = { code: 'validation_failed', fields: { username: 'is reserved' } };
  for (const username of ['Administrator', 'root', 'r00t', 'Berth']) {
    const entered = await from(service)('/api/auth/guest', { username });
    t.match([entered.statusCode, entered.json()], [400, reserved], username);
    const renamed = await guest('PATCH', '/api/me', { username });
    t.match([renamed.statusCode, renamed.json()], [400, reserved], username);
  }
});

t.test('no guest enters until an administrator allows it and sets a duration', async (t) => {
  const service = await aServiceInTime();
  const admin = as(service, await anAdmin(service));
  const settings = '/api/admin/settings';
  const offered = async () => (await service.http.inject('/api/auth/options')).json().guests_enabled;
  const refused = [403, { error: 'guests are not allowed here', code: 'guests_disabled' }];
  const enter = async () => {
    const answer = await from(service)('/api/auth/guest', {});
    return [answer.statusCode, answer.json()];
  };
  t.match((await admin('GET', settings)).json(), { guests_enabled: false, guest_lifetime_hours: 24 });
  t.same([await offered(), await enter()], [false, refused], 'off as it comes, and not offered');
  for (const guest_lifetime_hours of [0, -1, 1.5, 8761, '24', null]) {
    const answer = await admin('PATCH', settings, { guest_lifetime_hours });
    t.equal(answer.statusCode, 400, String(guest_lifetime_hours));
  }
  await admin('PATCH', settings, { guests_enabled: true, guest_lifetime_hours: 2 });
  t.equal(await offered(), true);
  const { token } = (await from(service)('/api/auth/guest', {})).json();
  const me = (await as(service, { token })('GET', '/api/me')).json();
  t.equal(Date.parse(me.guest_until) - service.clock.now().getTime(), 2 * HOUR_MS);
  await admin('PATCH', settings, { guests_enabled: false });
  t.same([await offered(), await enter()], [false, refused]);
});

t.test('a guest has no password to sign in with, or to change', async (t) => {
  const service = await aServiceInTime();
  const call = as(service, await aGuest(service, { username: 'eve' }));
  for (const password of ['', 'null', 'password']) {
    const answer = await from(service)('/api/auth/login', { email: 'eve', password });
    t.same([answer.statusCode, answer.json().error], [401, 'invalid email or password']);
  }
  const change = { old_password: '', new_password: 'a password of mine' };
  t.equal((await call('POST', '/api/me/password', change)).statusCode, 403);
  const add = await call('POST', '/api/me/passkeys/options');
  t.equal(add.json().code, 'account_required', 'nor anything else to come back with');
});

t.test('one address brings at most twenty guests a minute', async (t) => {
  const service = await aServiceInTime();
  await service.ports.storage.repositories.settings.change({ guestsEnabled: true });
  const enter = (ip: string) => from(service, { ip })('/api/auth/guest', {});
  const answers = await Promise.all(Array.from({ length: 25 }, () => enter('203.0.113.7')));
  t.equal(answers.filter(({ statusCode }) => statusCode === 200).length, 20);
  const refused = answers.find(({ statusCode }) => statusCode === 429);
  t.match(refused?.headers, { 'retry-after': /^\d+$/ });
  t.equal((await enter('203.0.113.8')).statusCode, 200);
});

const REFUSED = 'refused';

/** What a guest may change after its end: each answer's status, or its refusal. */
type Row = {
  readonly answers: number | typeof REFUSED;
  readonly payload?: object | string;
  readonly query?: string;
};

/**
 * Reading, ending and deleting are allowed; nothing is started, made, written or shared. `:box` runs, `:deleted` is
 * deleted, `:share` shares the box, `:none` is nothing.
 */
const TABLE: Readonly<Record<string, Row>> = {
  'PATCH /api/me': { answers: 200, payload: {} },
  'POST /api/me/ssh-keys': { answers: 400, payload: { name: 'x', public_key: 'x' } },
  'DELETE /api/me/ssh-keys/:none': { answers: 404 },
  'POST /api/agents/enrolments': { answers: REFUSED },
  'GET /api/agents/connect': { answers: REFUSED, query: '?agent=99999999-9999-4999-8999-999999999999' },
  'POST /api/containers': { answers: REFUSED, payload: { name: 'new', ...small } },
  'POST /api/containers/:deleted/restore': { answers: REFUSED },
  'POST /api/containers/:deleted/purge': { answers: 200, payload: { name: 'dev' } },
  'POST /api/containers/:box/start': { answers: REFUSED },
  'GET /api/containers/:box/terminal': { answers: REFUSED },
  'GET /api/containers/:box/ssh': { answers: REFUSED },
  'GET /api/containers/:box/exec': { answers: REFUSED },
  'POST /api/containers/:box/exec': { answers: REFUSED, payload: { command: ['true'] } },
  'POST /api/containers/:box/snapshots': { answers: REFUSED, payload: { name: 'base' } },
  'POST /api/containers/:box/forks': { answers: REFUSED, payload: {} },
  'DELETE /api/snapshots/:none': { answers: 404 },
  'POST /api/snapshots/:none/restore': { answers: REFUSED, payload: {} },
  'POST /api/containers/:box/processes': { answers: REFUSED, payload: { command: ['true'] } },
  'POST /api/containers/:box/processes/:process_id/input': { answers: REFUSED, payload: 'bytes' },
  'POST /api/containers/:box/processes/:process_id/resize': {
    answers: REFUSED,
    payload: { cols: 80, rows: 24 },
  },
  'GET /api/containers/:box/processes/:process_id/attach': { answers: 404 },
  'POST /api/containers/:box/processes/:process_id/signal': { answers: REFUSED, payload: { signal: 'TERM' } },
  'DELETE /api/containers/:box/processes/:process_id': { answers: 404 },
  'PUT /api/containers/:box/files': { answers: REFUSED, payload: 'bytes', query: '?path=new' },
  'DELETE /api/containers/:box/files': { answers: 200, query: '?path=old' },
  'PATCH /api/containers/:box/lifetime': { answers: REFUSED, payload: {} },
  'POST /api/containers/:box/role-setup/retry': { answers: REFUSED },
  'POST /api/containers/:box/role-setup/cancel': { answers: 409 },
  // The terminal to record was closed.
  'POST /api/containers/:box/recordings': { answers: 409, payload: {} },
  'POST /api/recordings/:none/stop': { answers: 404 },
  'DELETE /api/recordings/:none': { answers: 404 },
  'POST /api/containers/:box/collaborations': { answers: REFUSED, payload: { mode: 'view' } },
  'POST /api/collaborations/join': { answers: REFUSED, payload: { code: ':code' } },
  'DELETE /api/collaborations/:share/participants/:user_id': { answers: 404 },
  'DELETE /api/collaborations/:share': { answers: 200 },
  'PATCH /api/containers/:box': { answers: REFUSED, payload: { name: 'dev', ...small, memory_mb: 512 } },
  'POST /api/containers/:box/stop': { answers: 200 },
  'DELETE /api/containers/:box': { answers: 200 },
};

/** What may be read of a container. */
const READ = ['', '/files?path=old', '/logs', '/stats', '/changes', '/collaborations'] as const;

/** A guest just before its end, with one object of each kind; `ask` makes one request of the table. */
async function aScene() {
  const service = await aServiceInTime();
  await service.ports.storage.repositories.settings.change({ guestLifetimeHours: 1 });
  const owner = await aPerson(service, 'owner');
  const theirs = await containerOf(service, owner);
  const { code } = await shareOf(service, owner, theirs);
  const guest = await aGuest(service);
  const call = as(service, guest);
  const deleted = await containerOf(service, guest);
  await call('DELETE', `/api/containers/${deleted}`);
  const box = await containerOf(service, guest);
  await call('PUT', `/api/containers/${box}/files?path=old`, Buffer.from('old'));
  const share = await shareOf(service, guest, box);
  const names: Readonly<Record<string, string>> = {
    ':none': '99999999-9999-4999-8999-999999999999',
    ':deleted': deleted,
    ':box': box,
    ':share': share.id,
    ':code': code,
  };
  const named = (text: string): string => text.replace(/:[a-z]+/g, (name) => names[name] ?? name);
  const ask = (route: string, { payload, query = '' }: Row) => {
    const [method, path = ''] = route.split(' ');
    const body = typeof payload === 'string' ? Buffer.from(payload) : payload;
    const given =
      body === undefined || Buffer.isBuffer(body) ? body : JSON.parse(named(JSON.stringify(body)));
    return call(method as 'GET', named(path) + query, given);
  };
  return { service, guest, call, box, ask };
}

async function containerOf(service: InTime, who: Bearer): Promise<string> {
  return (await as(service, who)('POST', '/api/containers', { name: 'dev', ...small })).json().db_id;
}

async function shareOf(service: InTime, who: Bearer, dbId: string): Promise<{ id: string; code: string }> {
  const asked = { mode: 'view', expires_in_minutes: 600 };
  return (await as(service, who)('POST', `/api/containers/${dbId}/collaborations`, asked)).json();
}

t.test('every changing route states what it does for an expired guest', async (t) => {
  const { http } = await aServiceInTime();
  await http.ready();
  const declared = [...http.routeScopes].filter(([, scope]) => scope === 'write').map(([route]) => route);
  const listed = Object.keys(TABLE).map((route) => route.replace(/:[a-z]+/, ':id'));
  t.same(listed.sort(), declared.filter((route) => !route.startsWith('HEAD ')).sort());
});

t.test('an expired guest reads, renames, ends and deletes, and gets nothing new', async (t) => {
  const { service, guest, call, box, ask } = await aScene();
  const url = `/api/containers/${box}`;
  service.clock.advance(HOUR_MS - 1);
  t.equal((await call('POST', `${url}/start`)).statusCode, 200, 'a moment before');
  service.clock.advance(1);
  const start = await call('POST', `${url}/start`);
  t.same([start.statusCode, start.json()], EXPIRED);
  for (const path of ['/api/me', '/api/containers', ...READ.map((inside) => url + inside)])
    t.equal((await call('GET', path)).statusCode, 200, path);
  const renewed = await from(service, { cookie: guest.cookie })('/api/auth/refresh');
  t.equal(renewed.statusCode, 200, 'its session may be renewed, to read and delete');
  const { resources } = (await call('GET', url)).json();
  const other = await call('PATCH', url, { name: 'other', ...resources });
  t.match([other.statusCode, other.json()], [200, { restarted: false, container: { name: 'other' } }]);
  await call('PATCH', url, { name: 'dev', ...resources });
  for (const [route, row] of Object.entries(TABLE)) {
    const before = (await call('GET', url)).json();
    const answer = await ask(route, row);
    const expected = row.answers === REFUSED ? [403, 'guest_session_expired'] : [row.answers];
    t.match([answer.statusCode, answer.statusCode < 400 ? null : answer.json().code], expected, route);
    if (row.answers === REFUSED) t.same((await call('GET', url)).json(), before, route);
  }
  t.same((await call('GET', '/api/containers')).json(), { containers: [], total: 0 });
});

t.test('a guest is not refused as expired before the end', async (t) => {
  const { ask } = await aScene();
  for (const [route, row] of Object.entries(TABLE)) {
    if (row.answers !== REFUSED) continue;
    const answer = await ask(route, row);
    t.not(answer.statusCode, 403, `${route}: ${answer.body.slice(0, 100)}`);
  }
});
