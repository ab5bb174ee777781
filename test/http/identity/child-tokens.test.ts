import t from 'tap';
import { waitFor } from '../../support/patience.ts';
import { SSH_KEYS } from '../../support/samples/samples.ts';
import { aCluster, inMemory } from '../../support/service/cluster.ts';
import { aServiceInTime } from '../../support/service/factors.ts';
import { anAdmin, anApiToken, aPerson, as, auditOf, type Bearer } from '../../support/service/service.ts';
import { endless, openStream } from '../../support/service/streams.ts';

const REJECTED = 'api_token_rejected';
const MINUTE_MS = 60_000;

async function aScene() {
  const service = await aServiceInTime();
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  const by = (who: Bearer) => as(service, who);
  const box = async (owner: Bearer, name: string): Promise<string> =>
    (
      await by(owner)('POST', '/api/containers', { name, memory_mb: 256, cpu_shares: 100, disk_mb: 512 })
    ).json().db_id;
  const derive = async (who: Bearer, request: object = {}) =>
    (await by(who)('POST', '/api/tokens/derive', { name: 'child', ...request })).json();
  const codeOf = async (who: Bearer, url = '/api/tokens/validate') =>
    (await by(who)('GET', url)).json().code ?? null;
  return { service, root, ada, by, box, derive, codeOf };
}

t.test('a token makes a narrower one, which the lists show below it', async (t) => {
  const { service, ada, by, box, derive } = await aScene();
  const dev = await box(ada, 'dev');
  const parent = await anApiToken(service, ada, { expires_in: 1 });
  const answer = await by(parent)('POST', '/api/tokens/derive', {
    name: 'agent',
    scopes: ['read'],
    containers: ['dev'],
    expires_in_minutes: 30,
    max_uses: 9,
  });
  t.equal(answer.statusCode, 201);
  t.equal(answer.headers['cache-control'], 'no-store');
  const { id, token, created_at, expires_at, ...made } = answer.json();
  t.equal(Date.parse(expires_at) - Date.parse(created_at), 30 * MINUTE_MS);
  const lineage = { parent_id: parent.id, containers: [dev], max_uses: 9 };
  t.match(made, { name: 'agent', scopes: ['read'], ...lineage, uses_left: 9 });
  t.match((await by({ token })('GET', '/api/tokens/validate')).json(), { containers: [dev], uses_left: 8 });
  const { tokens } = (await by(ada)('GET', '/api/tokens')).json();
  t.match(tokens[0], { id, ...lineage, uses_left: 8, revoked_reason: null });
  t.match(tokens[1], { id: parent.id, parent_id: null, containers: null, max_uses: null, uses_left: null });
  t.match(auditOf(service, 'token_created').at(-1)?.details, `"parent_id":"${parent.id}"`);
  const unbound = await derive(ada, { containers: [dev] });
  t.match(unbound, { parent_id: null, containers: [dev], scopes: ['read', 'write'], expires_at: null });
  t.match(await derive(unbound), { parent_id: unbound.id, containers: [dev], scopes: ['read', 'write'] });
});

t.test('a signed-in user names the token that a narrower one is below', async (t) => {
  const { service, root, ada, by, box, derive, codeOf } = await aScene();
  await box(ada, 'dev');
  const [parent, ended, foreign] = [
    await anApiToken(service, ada, { scopes: ['read'], expires_in: 1 }),
    await anApiToken(service, ada),
    await anApiToken(service, root),
  ];
  await by(ada)('POST', `/api/tokens/${ended.id}/revoke`);
  const below = { parent_id: parent.id };
  const child = await derive(ada, { ...below, containers: ['dev'] });
  t.match(child, { ...below, scopes: ['read'] });
  t.ok(Date.parse(child.expires_at) <= Date.now() + 2 * 86_400_000, 'it ends with its parent');
  for (const request of [{ scopes: ['write'] }, { expires_in: 2 }])
    t.match(await derive(ada, { ...below, ...request }), {
      fields: { [Object.keys(request)[0] ?? '']: String },
    });
  const unknown = ['00000000-0000-4000-8000-000000000000', 'x', ended.id, foreign.id];
  const answers = await Promise.all(unknown.map((parent_id) => derive(ada, { parent_id })));
  for (const answer of answers) t.match(answer, { code: 'validation_failed', fields: { parent_id: String } });
  t.same(new Set(answers.map((each) => JSON.stringify(each))).size, 1, 'they look alike');
  t.match(await derive(parent, below), { fields: { parent_id: String } }, 'a token makes only its own');
  await by(ada)('POST', `/api/tokens/${parent.id}/revoke`);
  t.equal(await codeOf(child), REJECTED);
});

t.test('no request makes a token wider than the one that asks', async (t) => {
  const { service, root, ada, by, box } = await aScene();
  await box(ada, 'dev');
  const other = await box(ada, 'other');
  const foreign = await box(root, 'theirs');
  const narrow = (
    await by(ada)('POST', '/api/tokens/derive', {
      name: 'n',
      scopes: ['read'],
      containers: ['dev'],
      expires_in_minutes: 60,
    })
  ).json();
  const counted = (await by(ada)('POST', '/api/tokens/derive', { name: 'c', max_uses: 5 })).json();
  const strong = await anApiToken(service, root, { scopes: ['admin'] });
  await service.ports.storage.repositories.users.change(root.id, { role: 'user' });
  service.clock.advance(2_000);
  const cases: readonly (readonly [Bearer, object, number, object])[] = [
    [narrow, { scopes: ['write'] }, 400, { fields: { scopes: String } }],
    [narrow, { containers: ['other'] }, 400, { fields: { containers: String } }],
    [narrow, { containers: [other] }, 400, { fields: { containers: String } }],
    [narrow, { containers: [foreign] }, 400, { fields: { containers: String } }],
    [narrow, { expires_in_minutes: 61 }, 400, { fields: { expires_in_minutes: String } }],
    [narrow, { expires_in: 1 }, 400, { fields: { expires_in: String } }],
    [narrow, { containers: null }, 400, { fields: { containers: String } }],
    [narrow, { parent_id: null }, 400, { fields: { parent_id: String } }],
    [narrow, { depth: 0 }, 400, { fields: { depth: String } }],
    [counted, {}, 409, { code: 'token_cannot_derive' }],
    [ada, { scopes: ['admin'] }, 403, { code: 'not_authorized' }],
    [strong, { scopes: ['admin'] }, 403, { code: 'not_authorized' }],
  ];
  const before = auditOf(service, 'token_created').length;
  for (const [who, request, status, body] of cases) {
    const answer = await by(who)('POST', '/api/tokens/derive', { name: 'x', ...request });
    t.equal(answer.statusCode, status, JSON.stringify(request));
    t.match(answer.json(), body, JSON.stringify(request));
  }
  const unknown = ['other', foreign, 'nothing'].map((container) => ({ name: 'x', containers: [container] }));
  const answers = await Promise.all(unknown.map((each) => by(narrow)('POST', '/api/tokens/derive', each)));
  t.equal(new Set(answers.map(({ body }) => body)).size, 1, 'unknown, foreign and out of reach look alike');
  t.equal(auditOf(service, 'token_created').length, before, 'nothing was made');
});

t.test('descendants count among the live tokens of the user, and a line of them is bounded', async (t) => {
  const { service, ada, by, derive, codeOf } = await aScene();
  let last: Bearer = await anApiToken(service, ada);
  for (let depth = 1; depth <= 5; depth += 1) last = await derive(last);
  t.equal(await codeOf(last), null);
  t.match(await derive(last), { code: 'token_cannot_derive' });
  for (let n = 6; n < 100; n += 1) await derive(ada);
  t.match(await derive(ada), { code: 'token_limit_reached' });
  t.equal((await by(ada)('POST', '/api/tokens', { name: 'x' })).statusCode, 409);
});

const ENDS = [
  ['revoked', 'parent_revoked'],
  ['deleted', 'parent_deleted'],
] as const;

for (const [how, reason] of ENDS) {
  t.test(`when a token is ${how}, its descendants end in every process`, async (t) => {
    const work = endless();
    const cluster = await aCluster(t, { ...inMemory(), ...work.ports });
    const { here, there, other, ada, token, tokenId } = cluster;
    const derive = async (who: Bearer) =>
      (await as(here, who)('POST', '/api/tokens/derive', { name: 'c' })).json();
    const child = await derive(token);
    const grandchild = { ...ada, ...(await derive(child)) };
    const bystander = { ...ada, ...(await derive(other)) };
    const sockets = await cluster.openEverywhere(grandchild, 'main');
    const stays = await cluster.openEverywhere(bystander, 'beside');
    const streams = await Promise.all(
      cluster.addresses.map((address) => openStream(t, cluster, address, grandchild, 'command')),
    );
    if (how === 'revoked') await as(here, other)('POST', `/api/tokens/${tokenId}/revoke`);
    else await as(here, other)('DELETE', `/api/tokens/${tokenId}`);
    t.same(await Promise.all(sockets.map((one) => one.closed())), [
      [4001, 'unauthorized'],
      [4001, 'unauthorized'],
    ]);
    t.same(await Promise.all(streams.map((one) => one.cut())), ['cut off', 'cut off']);
    await waitFor(() => work.atWork() === 0, { what: 'the commands have ended' });
    for (const replica of [here, there]) {
      for (const who of [child, grandchild])
        t.equal((await as(replica, who)('GET', '/api/tokens/validate')).json().code, REJECTED);
      t.equal((await as(replica, bystander)('GET', '/api/tokens/validate')).statusCode, 200);
    }
    t.same(await Promise.all(stays.map((one) => one.alive())), [true, true]);
    const { tokens } = (await as(there, other)('GET', '/api/tokens')).json();
    const shown = tokens.filter(({ id }: { id: string }) => [child.id, grandchild.id].includes(id));
    t.match(shown, [{ revoked_reason: reason }, { revoked_reason: reason }]);
  });
}

t.test('a child ends with the time of its parent, and sleeps with its user', async (t) => {
  const { service, root, ada, by, derive, codeOf } = await aScene();
  const parent = await anApiToken(service, ada, { expires_in: 1 / 24 });
  const child = await derive(parent);
  await by(root)('PATCH', `/api/admin/users/${ada.id}`, { disabled: true });
  t.equal(await codeOf(child), REJECTED);
  await by(root)('PATCH', `/api/admin/users/${ada.id}`, { disabled: false });
  t.equal(await codeOf(child), null);
  service.clock.advance(60 * MINUTE_MS);
  t.same([await codeOf(parent), await codeOf(child)], [REJECTED, REJECTED]);
});

t.test('a count is exact over processes and concurrent requests', async (t) => {
  const { here, there, ada } = await aCluster(t);
  const asked = { name: 'counted', max_uses: 7 };
  const counted = (await as(here, ada)('POST', '/api/tokens/derive', asked)).json();
  const requests = Array.from({ length: 40 }, (_, n) =>
    as(n % 2 === 0 ? here : there, counted)('GET', n % 3 === 0 ? '/api/containers' : '/api/me'),
  );
  const statuses = (await Promise.all(requests)).map(({ statusCode }) => statusCode);
  t.same(
    [statuses.filter((one) => one === 200).length, statuses.filter((one) => one === 401).length],
    [7, 33],
  );
  const { tokens } = (await as(here, ada)('GET', '/api/tokens')).json();
  t.match(tokens[0], { max_uses: 7, uses_left: 0, revoked_at: null });
});

t.test('the last use of a token lasts until its socket closes', async (t) => {
  const cluster = await aCluster(t, inMemory(), { liveEveryMs: 20 });
  const asked = { name: 'one terminal', max_uses: 1 };
  const once = (await as(cluster.here, cluster.ada)('POST', '/api/tokens/derive', asked)).json();
  const terminal = await cluster.open({ ...cluster.ada, ...once }, 'main');
  t.equal((await as(cluster.there, once)('GET', '/api/me')).statusCode, 401);
  t.ok(await terminal.alive());
  await as(cluster.here, cluster.ada)('POST', `/api/tokens/${once.id}/revoke`);
  t.same(await terminal.closed(), [4001, 'unauthorized']);
});

t.test('a counted token or a child makes no access that outlasts it', async (t) => {
  const { service, root: ada, by, box, derive } = await aScene();
  const dev = await box(ada, 'dev');
  const [[type, , base64] = ['', '', '']] = SSH_KEYS;
  const requests = (who: Bearer) => [
    by(who)('POST', '/api/me/ssh-keys', { public_key: `${type} ${base64} ada@laptop` }),
    by(who)('POST', '/api/agents/enrolments'),
    by(who)('POST', `/api/containers/${dev}/collaborations`, { mode: 'view' }),
    by(who)('POST', '/api/admin/invitations', {}),
    by(who)('POST', '/api/admin/users', { email: 'eve@example.org', username: 'eve' }),
  ];
  const scopes = ['read', 'write', 'admin'];
  const parent = await anApiToken(service, ada, { scopes });
  const dependent: Readonly<Record<string, Bearer>> = {
    'with a count': await derive(ada, { scopes, max_uses: 9 }),
    'with a parent': await derive(parent),
  };
  for (const [name, token] of Object.entries(dependent))
    for (const answer of await Promise.all(requests(token)))
      t.match([answer.statusCode, answer.json()], [403, { code: 'token_dependent' }], name);
  t.same((await by(ada)('GET', '/api/me/ssh-keys')).json().ssh_keys, []);
  const brief = await anApiToken(service, ada, { scopes, expires_in: 1 });
  for (const { statusCode } of await Promise.all(requests(brief)))
    t.equal(statusCode, 201, 'an end of its own is no reason');
});
