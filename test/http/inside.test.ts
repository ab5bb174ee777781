import { setImmediate } from 'node:timers/promises';
import t from 'tap';
import { memoryAccess, memoryRuntime } from '../../src/adapters/memory/index.ts';
import type { ContainerInsight } from '../../src/ports/container-insight.ts';
import { RuntimeBusy, RuntimeUnavailable } from '../../src/ports/container-runtime.ts';
import { aBoxOfAda, NDJSON } from '../support/inside-service.ts';
import { aGuest, anAdmin, aPerson, aService, as, type Person } from '../support/service.ts';

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

type Route = readonly ['GET' | 'PUT' | 'DELETE' | 'POST', string, object | undefined, string];
const ROUTES: readonly Route[] = [
  ['POST', '/exec', { command: ['true'] }, 'failed to execute command'],
  ['GET', '/files?path=x', undefined, 'failed to read file'],
  ['PUT', '/files?path=x', undefined, 'failed to write file'],
  ['DELETE', '/files?path=x', undefined, 'failed to delete file'],
  ['GET', '/logs', undefined, 'failed to read logs'],
  ['GET', '/stats', undefined, 'failed to read stats'],
  ['GET', '/changes', undefined, 'failed to read changes'],
];

t.test('a container that does not run is refused where it must run', async (t) => {
  const { call, url, runtime, clock } = await aBoxOfAda();
  const statuses = async () => {
    const answers = [];
    for (const [method, path, payload] of ROUTES) {
      const { statusCode, body } = await call(method, `${url}${path}`, payload, NDJSON);
      if (statusCode === 409)
        t.equal(body, '{"error":"container is not running","code":"container_not_running"}');
      answers.push(`${method} ${path} ${statusCode}`);
    }
    return answers;
  };
  const inside = [
    'POST /exec 409',
    'GET /files?path=x 409',
    'PUT /files?path=x 409',
    'DELETE /files?path=x 409',
  ];
  const [box] = runtime.boxes.values();
  if (box) box.startedAt = null;
  t.same(
    await statuses(),
    [...inside, 'GET /logs 200', 'GET /stats 409', 'GET /changes 200'],
    'ended behind our back',
  );
  if (box) Object.assign(box, { startedAt: new Date(), paused: true });
  t.same(await statuses(), [...inside, 'GET /logs 200', 'GET /stats 409', 'GET /changes 200'], 'paused');
  runtime.boxes.clear();
  clock.advance(60_000);
  t.same(await statuses(), [...inside, 'GET /logs 409', 'GET /stats 409', 'GET /changes 409'], 'vanished');
});

t.test('a stopped container still has logs and changes', async (t) => {
  const { call, url } = await aBoxOfAda();
  await call('POST', `${url}/stop`);
  const statuses = await Promise.all(
    ROUTES.map(
      async ([method, path, payload]) => (await call(method, `${url}${path}`, payload, NDJSON)).statusCode,
    ),
  );
  t.same(statuses, [409, 409, 409, 409, 200, 409, 200]);
});

t.test('foreign and unknown containers are 404, byte for byte, and no engine is asked', async (t) => {
  const asked = async (): Promise<never> => {
    throw new Error('the engine was asked');
  };
  const never = {
    commands: { open: asked },
    files: { open: asked, write: asked, remove: asked },
    insight: { logs: asked, usage: asked, changes: asked },
  };
  const { service, box } = await aBoxOfAda(never);
  const ids = [box.db_id, box.id, '99999999-9999-4999-8999-999999999999', 'not-an-id', 'dev'];
  for (const who of [await aPerson(service, 'eve'), await anAdmin(service)]) {
    for (const [method, path, payload] of ROUTES) {
      for (const id of ids) {
        const answer = await as(service, who)(method, `/api/containers/${id}${path}`, payload, NDJSON);
        t.same(
          [answer.statusCode, answer.body],
          [404, '{"error":"container not found","code":"container_not_found"}'],
          `${method} ${path} ${id}`,
        );
      }
    }
  }
});

t.test('where the turn at the engine does not come, the answer says when to ask again', async (t) => {
  const busy = async (): Promise<never> => {
    throw new RuntimeBusy('engine_busy', 5);
  };
  const { call, url } = await aBoxOfAda({
    commands: { open: busy },
    files: { open: busy, write: busy, remove: busy },
    insight: { logs: busy, usage: busy, changes: busy },
  });
  for (const [method, path, payload] of ROUTES) {
    const { statusCode, headers, body } = await call(method, `${url}${path}`, payload, NDJSON);
    t.same([statusCode, headers['retry-after'], JSON.parse(body).code], [503, '5', 'engine_busy'], path);
  }
});

t.test('without an engine each answers 500 in its own words', async (t) => {
  const down = async (): Promise<never> => {
    throw new RuntimeUnavailable('no answer at /secret/socket');
  };
  const { call, url } = await aBoxOfAda({
    commands: { open: down },
    files: { open: down, write: down, remove: down },
    insight: { logs: down, usage: down, changes: down },
  });
  for (const [method, path, payload, error] of ROUTES) {
    const answer = await call(method, `${url}${path}`, payload, NDJSON);
    t.same([answer.statusCode, answer.json()], [500, { error, code: 'internal_error' }]);
  }
});

t.test('a guest whose time is over reads and deletes, and changes nothing', async (t) => {
  const { service, clock } = await aBoxOfAda();
  const call = as(service, await aGuest(service));
  const { db_id } = (await call('POST', '/api/containers', { name: 'guest' })).json();
  const url = `/api/containers/${db_id}`;
  t.equal((await call('PUT', `${url}/files?path=x`)).statusCode, 201);
  clock.advance(25 * 3_600_000);
  const statuses: Record<string, number> = {};
  for (const [method, path, payload] of ROUTES) {
    statuses[`${method} ${path}`] = (await call(method, `${url}${path}`, payload, NDJSON)).statusCode;
  }
  t.same(statuses, {
    'POST /exec': 403,
    'GET /files?path=x': 200,
    'PUT /files?path=x': 403,
    'DELETE /files?path=x': 200,
    'GET /logs': 200,
    'GET /stats': 200,
    'GET /changes': 200,
  });
});

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
