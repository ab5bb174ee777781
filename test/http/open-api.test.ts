import t from 'tap';
import { type ApiDocument, judge, operationsOf, pointerOf } from '../support/service/api-document.ts';
import { aService, as } from '../support/service/service.ts';

async function theDocument(): Promise<ApiDocument> {
  const service = await aService();
  return (await as(service, null)('GET', '/api/openapi.json')).json();
}

const SECURITY: Readonly<Record<string, readonly object[]>> = {
  public: [],
  login: [{ loginToken: [] }],
  api_token: [{ apiToken: [] }],
  read: [{ loginToken: [] }, { apiToken: [] }],
  write: [{ loginToken: [] }, { apiToken: [] }],
  admin: [{ loginToken: [] }, { apiToken: [] }],
};

t.test('every route is described: as an operation, or a socket with its address', async (t) => {
  const service = await aService();
  await service.http.ready();
  const { paths }: ApiDocument = (await as(service, null)('GET', '/api/openapi.json')).json();
  for (const route of service.http.routeScopes.keys()) {
    const [method = '', url = ''] = route.split(' ');
    if (method === 'HEAD' || url.startsWith('/docs')) continue;
    const item = paths[url.replace(/:(\w+)/g, '{$1}')];
    t.ok(item?.[method.toLowerCase()] ?? item?.['x-websocket'], route);
  }
});

t.test('every operation has a name, words, a group, its scope and its errors', async (t) => {
  const document = await theDocument();
  const groups = new Set(document.tags.map(({ name }) => name));
  const ids = new Set<string>();
  for (const { method, path, operation } of operationsOf(document)) {
    const { operationId, summary, description, tags, security, responses } = operation;
    const what = `${method} ${path}`;
    t.match(operationId, /^[a-z]\w*\.[a-z]\w*$/, what);
    t.notOk(ids.has(operationId), operationId);
    ids.add(operationId);
    t.match(summary, /^[A-Z].*\w$/, what);
    t.match(description, /\S/, what);
    t.ok(tags.length === 1 && groups.has(tags[0] ?? ''), what);
    const scope = operation['x-berth-scope'];
    const needed = security.filter((one) => Object.keys(one).length > 0);
    if (!['/readyz', '/api/auth/refresh'].includes(path)) t.same(needed, SECURITY[scope], what);
    const expected = scope === 'public' ? ['404', '500', '503'] : ['401', '404', '429', '500', '503'];
    t.same(
      expected.filter((status) => responses[status] === undefined),
      [],
      what,
    );
  }
  t.match(document.components.securitySchemes, { loginToken: { bearerFormat: 'JWT' }, apiToken: {} });
});

t.test('every body in JSON has a named schema', async (t) => {
  const document = await theDocument();
  for (const { method, path, operation } of operationsOf(document)) {
    const { requestBody, responses } = operation;
    const successes = Object.entries(responses).filter(([status]) => Number(status) < 400);
    const bodies = [requestBody, ...successes.map(([, one]) => one)];
    for (const body of bodies) {
      const schema = body && 'content' in body ? body.content?.['application/json']?.schema : undefined;
      if (schema !== undefined) t.match(schema['$ref'], /^#\/components\/schemas\/\w+$/, `${method} ${path}`);
    }
  }
});

t.test('the examples are valid', async (t) => {
  const document = await theDocument();
  const { faultsOf } = judge(document);
  let count = 0;
  for (const [name, { examples = [] }] of Object.entries(document.components.schemas)) {
    for (const example of examples as readonly unknown[]) {
      count += 1;
      t.equal(faultsOf(pointerOf('components', 'schemas', name), example), null, name);
    }
  }
  t.ok(count > 20);
});

t.test('a reader gets no other answer the second time', async (t) => {
  const service = await aService();
  const ask = () => as(service, null)('GET', '/api/openapi.json');
  const [first, second] = [await ask(), await ask()];
  t.equal(first.body, second.body);
  t.match(second.headers['content-type'], 'application/json; charset=utf-8');
});
