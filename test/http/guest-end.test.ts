import t from 'tap';
import { aServiceInTime, from, type InTime } from '../support/factors.ts';
import { aPerson, as, type Bearer } from '../support/service.ts';

const HOUR_MS = 3_600_000;
const REFUSED = 'refused';
const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 512 };

/** What a guest may change after its end: the status that each answers, or that it is refused. */
type Row = {
  readonly answers: number | typeof REFUSED;
  readonly payload?: object | string;
  readonly query?: string;
};

/**
 * Reading, ending and deleting go on; nothing is started, made, written or shared. `:box` runs, `:deleted` is deleted,
 * `:share` shares the box, `:none` is nothing.
 */
const TABLE: Readonly<Record<string, Row>> = {
  'PATCH /api/me': { answers: 200, payload: {} },
  'POST /api/me/ssh-keys': { answers: 400, payload: { name: 'x', public_key: 'x' } },
  'DELETE /api/me/ssh-keys/:none': { answers: 404 },
  'POST /api/containers': { answers: REFUSED, payload: { name: 'new', ...small } },
  'POST /api/containers/:deleted/restore': { answers: REFUSED },
  'POST /api/containers/:deleted/purge': { answers: 200, payload: { name: 'dev' } },
  'POST /api/containers/:box/start': { answers: REFUSED },
  'GET /api/containers/:box/terminal': { answers: REFUSED },
  'POST /api/containers/:box/exec': { answers: REFUSED, payload: { command: ['true'] } },
  'PUT /api/containers/:box/files': { answers: REFUSED, payload: 'bytes', query: '?path=new' },
  'DELETE /api/containers/:box/files': { answers: 200, query: '?path=old' },
  'POST /api/containers/:box/role-setup/retry': { answers: REFUSED },
  'POST /api/containers/:box/role-setup/cancel': { answers: 409 },
  // The terminal that would be recorded was closed.
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

/** A guest just before its end, with something of each kind; `ask` makes one request of the table. */
async function aScene() {
  const service = await aServiceInTime();
  await service.ports.storage.repositories.settings.change({ guestsEnabled: true, guestLifetimeHours: 1 });
  const owner = await aPerson(service, 'owner');
  const theirs = await containerOf(service, owner);
  const { code } = await shareOf(service, owner, theirs);
  const guest: Bearer = (await from(service)('/api/auth/guest', {})).json();
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
  return { service, call, box, ask };
}

async function containerOf(service: InTime, who: Bearer): Promise<string> {
  const made = await as(service, who)('POST', '/api/containers', { name: 'dev', ...small });
  return made.json().db_id;
}

async function shareOf(service: InTime, who: Bearer, dbId: string): Promise<{ id: string; code: string }> {
  const asked = { mode: 'view', expires_in_minutes: 600 };
  return (await as(service, who)('POST', `/api/containers/${dbId}/collaborations`, asked)).json();
}

t.test('every route that changes something says what it does for a guest after its end', async (t) => {
  const { http } = await aServiceInTime();
  await http.ready();
  const declared = [...http.routeScopes].filter(([, scope]) => scope === 'write').map(([route]) => route);
  const listed = Object.keys(TABLE).map((route) => route.replace(/:[a-z]+/, ':id'));
  t.same(listed.sort(), declared.filter((route) => !route.startsWith('HEAD ')).sort());
});

t.test('a guest whose time is over reads, ends and deletes, and gets nothing new', async (t) => {
  const { service, call, box, ask } = await aScene();
  service.clock.advance(HOUR_MS);
  for (const [route, row] of Object.entries(TABLE)) {
    const before = (await call('GET', `/api/containers/${box}`)).json();
    const answer = await ask(route, row);
    const expected = row.answers === REFUSED ? [403, 'guest_session_expired'] : [row.answers];
    t.match([answer.statusCode, answer.statusCode < 400 ? null : answer.json().code], expected, route);
    if (row.answers === REFUSED) t.same((await call('GET', `/api/containers/${box}`)).json(), before, route);
  }
  t.same((await call('GET', '/api/containers')).json(), { containers: [] });
});

t.test('within its time a guest is refused none of it for its end', async (t) => {
  const { ask } = await aScene();
  for (const [route, row] of Object.entries(TABLE)) {
    if (row.answers !== REFUSED) continue;
    const answer = await ask(route, row);
    t.not(answer.statusCode, 403, `${route}: ${answer.body.slice(0, 100)}`);
  }
});

t.test('a guest whose time is over may still rename a container', async (t) => {
  const { service, call, box } = await aScene();
  service.clock.advance(HOUR_MS);
  const { resources } = (await call('GET', `/api/containers/${box}`)).json();
  const answer = await call('PATCH', `/api/containers/${box}`, { name: 'other', ...resources });
  t.match([answer.statusCode, answer.json()], [200, { restarted: false, container: { name: 'other' } }]);
});
