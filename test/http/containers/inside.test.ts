import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { memoryAccess, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import type { Ports } from '../../../src/app/main/compose-options.ts';
import type { ContainerInsight } from '../../../src/ports/containers/container-insight.ts';
import { RuntimeBusy, RuntimeUnavailable } from '../../../src/ports/containers/container-runtime.ts';
import { aBoxOfAda, NDJSON } from '../../support/service/inside-service.ts';
import { anAdmin, aPerson, aService, as, type Person } from '../../support/service/service.ts';

t.test('logs are text, stats are figures, changes are rows', async (t) => {
  const { call, url } = await aBoxOfAda();
  const logs = await call('GET', `${url}/logs?tail=5&follow=true`);
  t.same([logs.headers['content-type'], logs.body], ['text/plain; charset=utf-8', 'started\n']);
  t.equal((await call('GET', `${url}/logs?tail=0`)).body, '');
  for (const query of ['tail=-1', 'tail=x', 'follow=1', 'since=1']) {
    t.equal((await call('GET', `${url}/logs?${query}`)).statusCode, 400, query);
  }
  t.match((await call('GET', `${url}/stats`)).json(), {
    time: /Z$/,
    cpu: { used_millicores: 1, limit_millicores: Number },
    memory: { used_bytes: 1_048_576, limit_bytes: Number },
    disk: { used_bytes: 0, limit_bytes: 512 * 1024 * 1024 },
    layer: { used_bytes: null, limit_bytes: 2048 * 1024 * 1024 },
    pids: { used: 1, limit: 512 },
  });
  t.same((await call('GET', `${url}/changes`)).json(), {
    packages: [],
    package_count: 0,
    files: [],
    layer_bytes: 0,
    complete: true,
  });
});

type Method = 'GET' | 'PUT' | 'DELETE' | 'POST';
type Route = readonly [method: Method, path: string, payload: object | undefined, failure: string];
const ROUTES: readonly Route[] = [
  ['POST', '/exec', { command: ['true'] }, 'failed to execute command'],
  ['GET', '/files?path=x', undefined, 'failed to read file'],
  ['PUT', '/files?path=x', undefined, 'failed to write file'],
  ['DELETE', '/files?path=x', undefined, 'failed to delete file'],
  ['GET', '/logs', undefined, 'failed to read logs'],
  ['GET', '/stats', undefined, 'failed to read stats'],
  ['GET', '/changes', undefined, 'failed to read changes'],
];
const routeOf = (text: string): Route => {
  const [method, path = ''] = text.split(' ');
  return [method as Method, path, undefined, ''];
};
const NOT_FOUND = '{"error":"container not found","code":"container_not_found"}';

/** Whatever looks into a container fails so. */
function failing(error: Error): Pick<Ports, 'commands' | 'files' | 'insight'> {
  const fail = () => Promise.reject(error);
  return {
    commands: { open: fail },
    files: { open: fail, write: fail, remove: fail },
    insight: { logs: fail, usage: fail, changes: fail },
  };
}

t.test('what must run is refused where it does not; logs and changes stay readable', async (t) => {
  const { call, url, runtime, clock } = await aBoxOfAda();
  const statuses = async () => {
    const answers: number[] = [];
    for (const [method, path, payload] of ROUTES) {
      const { statusCode, body } = await call(method, `${url}${path}`, payload, NDJSON);
      if (statusCode === 409)
        t.equal(body, '{"error":"container is not running","code":"container_not_running"}');
      answers.push(statusCode);
    }
    return answers;
  };
  const refused = [409, 409, 409, 409, 200, 409, 200];
  const [box] = runtime.boxes.values();
  if (box) box.startedAt = null;
  t.same(await statuses(), refused, 'ended behind our back');
  if (box) Object.assign(box, { startedAt: new Date(), paused: true });
  t.same(await statuses(), refused, 'paused');
  if (box) box.paused = false;
  await call('POST', `${url}/stop`);
  t.same(await statuses(), refused, 'stopped');
  await call('POST', `${url}/start`);
  runtime.boxes.clear();
  clock.advance(60_000);
  t.same(await statuses(), Array(7).fill(409), 'vanished');
});

t.test("another user's container is answered like an unknown one, and no engine is asked", async (t) => {
  const { service, box } = await aBoxOfAda(failing(new Error('the engine was asked')));
  const ids = [box.db_id, box.id, '99999999-9999-4999-8999-999999999999', 'not-an-id', 'dev'];
  const routes = [
    ...ROUTES,
    ...['GET ', 'DELETE ', 'POST /start', 'POST /stop', 'GET /terminal'].map(routeOf),
  ];
  for (const who of [await aPerson(service, 'eve'), await anAdmin(service)]) {
    for (const [method, path, payload] of routes) {
      const seen = new Set<string>();
      for (const id of ids) {
        const answer = await as(service, who)(method, `/api/containers/${id}${path}`, payload, NDJSON);
        const { date: _d, 'x-request-id': _r, ...headers } = answer.headers;
        seen.add(JSON.stringify([answer.statusCode, headers, answer.body]));
      }
      t.equal(seen.size, 1, `${method} ${path}: byte for byte`);
      t.match(
        [...seen].map((one) => JSON.parse(one)),
        [[404, {}, NOT_FOUND]],
        `${method} ${path}`,
      );
    }
  }
});

t.test(
  'without a turn at the engine each says when to come back, without an engine what failed',
  async (t) => {
    const busy = await aBoxOfAda(failing(new RuntimeBusy('engine_busy', 5)));
    const down = await aBoxOfAda(failing(new RuntimeUnavailable('no answer at /secret/socket')));
    for (const [method, path, payload, error] of ROUTES) {
      const refused = await busy.call(method, `${busy.url}${path}`, payload, NDJSON);
      const { statusCode, headers } = refused;
      t.same([statusCode, headers['retry-after'], refused.json().code], [503, '5', 'engine_busy'], path);
      const failed = await down.call(method, `${down.url}${path}`, payload, NDJSON);
      t.same([failed.statusCode, failed.json()], [500, { error, code: 'internal_error' }], path);
    }
  },
);

t.test('changes are looked for once a minute, in one container of a user and two in all', async (t) => {
  const runtime = memoryRuntime();
  const asked: { readonly runtimeId: string; readonly answer: () => void }[] = [];
  const { insight } = memoryAccess(runtime);
  const changes: ContainerInsight['changes'] = async (handle) => {
    await new Promise<void>((answer) => asked.push({ runtimeId: handle.runtimeId, answer }));
    return await insight.changes(handle);
  };
  const service = await aService({ runtime, insight: { ...insight, changes } });
  const ask = async (who: Person, name: string) => {
    const box = (await as(service, who)('POST', '/api/containers', { name, disk_mb: 512 })).json();
    return { id: box.id, get: () => as(service, who)('GET', `/api/containers/${box.db_id}/changes`) };
  };
  const [ada, bob, eve] = [
    await aPerson(service, 'ada'),
    await aPerson(service, 'bob'),
    await aPerson(service, 'eve'),
  ];
  const [one, two, bobs, eves] = [
    await ask(ada, 'one'),
    await ask(ada, 'two'),
    await ask(bob, 'b'),
    await ask(eve, 'e'),
  ];
  const answers = [one, one, one, two, bobs, eves].map(async ({ get }) => (await get()).statusCode);
  const asking = async (count: number) => {
    while (asked.length < count) await setImmediate();
    return asked.map(({ runtimeId }) => runtimeId);
  };
  t.same(await asking(2), [one.id, bobs.id]);
  asked[0]?.answer();
  t.same(await asking(3), [one.id, bobs.id, eves.id], 'users take turns');
  asked[1]?.answer();
  t.same(await asking(4), [one.id, bobs.id, eves.id, two.id]);
  for (const { answer } of asked) answer();
  t.same(await Promise.all(answers), [200, 200, 200, 200, 200, 200]);
  t.equal((await one.get()).statusCode, 200);
  t.equal(asked.length, 4, 'the answer is remembered');
  service.clock.advance(60_000);
  const later = one.get();
  t.same((await asking(5)).at(-1), one.id);
  asked[4]?.answer();
  t.equal((await later).statusCode, 200);
});
