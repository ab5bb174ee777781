import { once } from 'node:events';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { type ApiDocument, operationsOf, type Route } from '../../support/service/api-document.ts';
import { requestsOf } from '../../support/service/open-api-inputs.ts';
import { anAdmin, aService, as, type Bearer, small } from '../../support/service/service.ts';
import { eventClient } from '../../support/service/streams.ts';
import { terminalClient } from '../../support/terminal/terminal-client.ts';
import { fakeTerminals, listening } from '../../support/terminal/terminals.ts';

/** Requests made of the document, for each operation; and the same with an idempotency key that was used before. */
const SAMPLES = 12;
const SAME = { name: 'secret', ...small };
const KEY = { 'idempotency-key': 'known' };
/** As through a proxy: local programs may read the metrics. */
const NOT_LOCAL = { 'x-forwarded-for': '192.0.2.1' };

/** An administrator with one allowed container, and in another one of each object. */
async function aScene(t: Test) {
  const runtime = memoryRuntime();
  const service = await aService({ runtime, terminalBackend: fakeTerminals() });
  await service.ports.storage.repositories.settings.change({ requestsPerMinute: 0 });
  const root = await anAdmin(service);
  const address = await listening(t, service);
  const call = as(service, root);
  const made = async (name: string) => (await call('POST', '/api/containers', { name, ...small })).json();
  const [open, secret, gone] = [await made('allowed'), await made('secret'), await made('removed')];
  await call('DELETE', `/api/containers/${gone.db_id}`);
  const terminal = await terminalClient({ address, dbId: secret.db_id, token: root.token });
  const url = `/api/containers/${secret.db_id}`;
  const recording = (await call('POST', `${url}/recordings`, {})).json();
  const share = (await call('POST', `${url}/collaborations`, { mode: 'view' })).json();
  await call('PATCH', url, SAME, KEY);
  await call('PUT', `${url}/files?path=secret.txt`, {});
  const asked = { name: 'narrow', scopes: ['admin'], containers: ['allowed'] };
  const narrow: Bearer = (await call('POST', '/api/tokens/derive', asked)).json();
  const secrets = [secret, gone].flatMap(({ id, db_id, name }) => [id, db_id, name]);
  const ids: readonly string[] = [secret.db_id, secret.id, gone.db_id, recording.id, share.id];
  return {
    service,
    root,
    narrow,
    address,
    open,
    secret,
    gone,
    ids,
    terminal,
    secrets: [...secrets, recording.id, share.id],
  };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

const documentOf = async ({ service }: Scene): Promise<ApiDocument> =>
  (await as(service, null)('GET', '/api/openapi.json')).json();

const isFor = ({ operation }: Route): boolean => operation['x-berth-for-restricted-tokens'] === true;

/** Requests of one operation, which name one of the other containers where the address has an id. */
const requestsFor = (document: ApiDocument, route: Route, ids: readonly string[]) =>
  fc
    .sample(requestsOf(document, route, ids), { numRuns: SAMPLES, seed: 7 })
    .filter(({ url }) => !route.path.includes('{') || ids.some((id) => url.includes(id)));

/** What the answers to one operation gave away of the other containers; null for nothing. */
async function leakOf(scene: Scene, document: ApiDocument, route: Route): Promise<string | null> {
  const { service, narrow, ids, secrets } = scene;
  const authorization = `Bearer ${narrow.token}`;
  for (const request of requestsFor(document, route, ids)) {
    for (const key of [{}, KEY]) {
      const headers = { ...request.headers, ...key, ...NOT_LOCAL, authorization };
      const { statusCode, body } = await service.http.inject({ ...request, headers });
      const what = `${statusCode} ${request.method} ${request.url}: ${body.slice(0, 200)}`;
      // What the client itself has sent tells it nothing.
      const asked = decodeURIComponent(request.url) + (request.payload ?? '');
      if (secrets.some((one) => body.includes(one) && !asked.includes(one))) return what;
      if (statusCode < 400 && route.path.includes('{')) return what;
      // An address that is too long has no route.
      if (!isFor(route) && statusCode !== 403 && JSON.parse(body).code !== 'not_found') return what;
    }
  }
  return null;
}

t.test('by no route does a token get anything of a container that it is not for', async (t) => {
  const scene = await aScene(t);
  const document = await documentOf(scene);
  const routes = operationsOf(document).filter(({ operation }) => operation['x-berth-scope'] !== 'public');
  t.ok(routes.length > 70);
  for (const route of routes)
    t.equal(await leakOf(scene, document, route), null, route.operation.operationId);
  const call = as(scene.service, scene.root);
  const { name, status } = (await call('GET', `/api/containers/${scene.secret.db_id}`)).json();
  t.same([name, status], ['secret', 'running'], 'and it does nothing to it');
  t.ok((await call('GET', '/api/recordings')).json().recordings.length === 1);
  t.ok((await call('GET', '/api/containers?deleted=true')).json().containers.length === 1);
});

t.test('the routes for containers serve those that it is for', async (t) => {
  const scene = await aScene(t);
  const { service, narrow, open } = scene;
  const call = as(service, narrow);
  t.match((await call('GET', '/api/containers')).json(), { containers: [{ db_id: open.db_id }] });
  for (const id of [open.db_id, open.id])
    t.equal((await call('GET', `/api/containers/${id}`)).statusCode, 200);
  t.equal((await call('POST', `/api/containers/${open.db_id}/exec`, { command: ['true'] })).statusCode, 200);
  const unknown = await call('GET', '/api/containers/99999999-9999-4999-8999-999999999999');
  const hidden = await call('GET', `/api/containers/${scene.secret.db_id}`);
  t.same([hidden.statusCode, hidden.body], [404, unknown.body], 'others look unknown');
  t.match((await call('GET', '/api/me')).json(), { code: 'token_restricted' });
  t.match((await call('GET', '/api/tokens')).json(), { code: 'login_token_required' });
  t.notMatch((await call('GET', '/readyz')).body, 'detail', 'public routes see no administrator in it');
});

t.test('it reaches neither what is deleted nor what another credential was answered', async (t) => {
  const { service, narrow, secret, gone } = await aScene(t);
  const call = as(service, narrow);
  t.same((await call('GET', '/api/containers?deleted=true')).json().containers, []);
  const url = `/api/containers/${gone.db_id}`;
  for (const answer of [
    await call('POST', `${url}/restore`),
    await call('POST', `${url}/purge`, { name: gone.name }),
    await call('PATCH', `/api/containers/${secret.db_id}`, SAME, KEY),
  ])
    t.match([answer.statusCode, answer.json()], [404, { code: 'container_not_found' }]);
});

t.test('its sockets are for its containers too', async (t) => {
  const scene = await aScene(t);
  const { service, root, narrow, address, open, secret } = scene;
  const stop = (dbId: string) => as(service, root)('POST', `/api/containers/${dbId}/stop`);
  const first = await eventClient(address, narrow.token);
  await stop(secret.db_id);
  await stop(open.db_id);
  await first.until(() => first.messages.length > 0);
  first.socket.ping();
  await once(first.socket, 'pong');
  t.match(first.messages, [{ type: 'container_stopped', data: { db_id: open.db_id } }]);
  t.equal(first.messages.length, 1);
  const after = first.messages[0]?.id ?? '';
  await as(service, root)('POST', `/api/containers/${secret.db_id}/start`);
  await as(service, root)('POST', `/api/containers/${open.db_id}/start`);
  const second = await eventClient(address, narrow.token, after);
  await second.until(() => second.messages.length > 0);
  second.socket.ping();
  await once(second.socket, 'pong');
  t.match(second.messages, [{ type: 'container_started', data: { db_id: open.db_id } }], 'what was missed');
  t.equal(second.messages.length, 1);
  const refused = await service.http.inject({
    method: 'GET',
    url: `/api/containers/${secret.db_id}/terminal`,
    headers: { authorization: `Bearer ${narrow.token}` },
  });
  t.equal(refused.statusCode, 404);
  await terminalClient({ address, dbId: open.db_id, token: narrow.token });
});
