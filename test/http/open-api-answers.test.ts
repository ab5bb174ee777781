import fc from 'fast-check';
import t from 'tap';
import { type ApiDocument, judge, operationsOf, type Route } from '../support/service/api-document.ts';
import { aServiceInTime } from '../support/service/factors.ts';
import { requestsOf } from '../support/service/open-api-inputs.ts';
import { anAdmin, anApiToken, aPerson, as, type Bearer } from '../support/service/service.ts';
import { thorough } from '../support/values.ts';

/** Per operation; more find more. */
const RUNS = thorough(8, 60);

/** A service with one of each object, and who may ask for them. */
async function aScene() {
  const service = await aServiceInTime();
  await service.ports.storage.repositories.settings.change({
    requestsPerMinute: 0,
    guestsEnabled: true,
    openRegistration: true,
  });
  const root = await anAdmin(service);
  const call = as(service, root);
  const { db_id } = (await call('POST', '/api/containers', { name: 'box' })).json();
  const gone = (await call('POST', '/api/containers', { name: 'gone' })).json();
  await call('DELETE', `/api/containers/${gone.db_id}`);
  const share = (await call('POST', `/api/containers/${db_id}/collaborations`, { mode: 'view' })).json();
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  const weak = await anApiToken(service, await aPerson(service, 'bob'), { scopes: ['read'] });
  const strong = await anApiToken(service, root, { scopes: ['admin'] });
  const callers: readonly (Bearer | null)[] = [root, root, strong, weak, { token: 'x.y.z' }, null];
  return { service, root, callers, ids: [db_id, gone.db_id, share.id] };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

/** What could name an object in a route's address: names in the list that the address starts with. */
async function idsOf({ service, root, ids }: Scene, { path }: Route): Promise<string[]> {
  const found = new Set<string>(ids);
  const { statusCode, body } = await as(service, root)('GET', path.split('/{')[0] ?? '');
  if (path.includes('{') && statusCode === 200)
    JSON.parse(body, (key, value) => {
      if (/^(id|db_id|key|name)$/.test(key) && typeof value === 'string') found.add(value);
      return value;
    });
  return [...found];
}

/** Sends requests to one operation, and judges each answer; returns the statuses seen. */
async function statusesOf(
  document: ApiDocument,
  { faultOf }: ReturnType<typeof judge>,
  route: Route,
  scene: Scene,
): Promise<ReadonlySet<number>> {
  const requests = requestsOf(document, route, await idsOf(scene, route));
  const statuses = new Set<number>();
  await fc.assert(
    fc.asyncProperty(requests, fc.constantFrom(...scene.callers), async (request, who) => {
      const authorization = who === null ? {} : { authorization: `Bearer ${who.token}` };
      const headers = { ...request.headers, ...authorization };
      const answer = await scene.service.http.inject({ ...request, headers });
      const fault = faultOf(route, answer);
      if (fault !== null) throw new Error(`${request.method} ${request.url} ${request.payload}: ${fault}`);
      if (answer.statusCode === 500) throw new Error(`a fault: ${request.url} ${request.payload}`);
      statuses.add(answer.statusCode);
    }),
    { numRuns: RUNS },
  );
  return statuses;
}

t.test('each answer of each operation is as the document says', async (t) => {
  const shared = await aScene();
  const document: ApiDocument = (await as(shared.service, null)('GET', '/api/openapi.json')).json();
  const judged = judge(document);
  const successful: string[] = [];
  for (const route of operationsOf(document)) {
    const what = route.operation.operationId;
    // what the other methods change must not be what the next operation is tried on
    const scene = route.method === 'GET' ? shared : await aScene();
    const statuses = await statusesOf(document, judged, route, scene).catch((error: Error) => error);
    if (scene !== shared) await scene.service.http.close();
    if (statuses instanceof Error) t.fail(`${what}: ${statuses.message}`);
    else if ([...statuses].some((status) => status < 400)) successful.push(what);
  }
  t.ok(successful.length > 40, `only ${successful.length} succeeded`);
});
