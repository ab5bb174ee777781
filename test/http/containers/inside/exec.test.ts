import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';
import { json, text } from 'node:stream/consumers';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { execAnswer, jsonOf } from '../../../../src/adapters/http/replies/exec-reply.ts';
import { memoryAccess, memoryRuntime } from '../../../../src/adapters/memory/index.ts';
import type { Ports } from '../../../../src/app/main/compose-options.ts';
import {
  OutcomeUnknown,
  RightMissing,
  RuntimeBusy,
  RuntimeUnavailable,
} from '../../../../src/ports/containers/container-runtime.ts';
import type { ContainerInsight } from '../../../../src/ports/containers/inside/container-insight.ts';
import { aBoxOfAda, JSON_LIST, NDJSON } from '../../../support/service/cluster.ts';
import {
  anAdmin,
  anApiToken,
  aPerson,
  aService,
  as,
  type Bearer,
  type Person,
} from '../../../support/service/service.ts';
import { listenOnUnix } from '../../../support/service/streams.ts';

t.test("a command's output is streamed line by line on request", async (t) => {
  const { call, url } = await aBoxOfAda();
  const run = (payload: object, headers: Record<string, string> = NDJSON) =>
    call('POST', `${url}/exec`, payload, headers);
  const answer = await run({ command: ['echo', 'ünï', '漢字'] });
  t.equal(answer.statusCode, 200);
  t.equal(answer.headers['content-type'], 'application/x-ndjson; charset=utf-8');
  const lines = answer.body
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  t.same(lines.at(-1), { exit_code: 0 });
  t.ok(lines.slice(0, -1).every((line) => line.stream === 'stdout'));
  t.equal(lines.map((line) => line.data ?? '').join(''), 'ünï 漢字\n', 'no character is broken');
  t.same((await run({ command: ['sleep', '9'], timeout_seconds: 1 })).body, '{"exit_code":null}\n');
  t.match((await run({ command: ['nope'] })).body, /"stream":"stderr","data":".*\n\{"exit_code":127\}\n$/s);
  for (const accept of ['*/*', 'application/json', 'application/*', '']) {
    t.match(
      (await run({ command: ['true'] }, { accept })).json(),
      { exit_code: 0, truncated: false },
      accept,
    );
  }
  t.equal(
    (await run({ command: ['true'] }, { accept: 'text/html, Application/X-NDJSON;q=0.9' })).body,
    '{"exit_code":0}\n',
  );
  t.equal((await run({ command: [] })).statusCode, 400);
});

t.test('a command counts as use of its container', async (t) => {
  const { service, call, url } = await aBoxOfAda();
  for (const accept of [NDJSON, JSON_LIST]) {
    service.clock.advance(60_000);
    await call('POST', `${url}/exec`, { command: ['true'] }, accept);
    t.equal((await call('GET', url)).json().last_used_at, service.clock.now().toISOString(), accept.accept);
  }
});

t.test("a command's cost is limited, and the answer names the field", async (t) => {
  const { call, url } = await aBoxOfAda();
  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`A${at}`, value]));
  const cases: [string, object, object][] = [
    ['too many variables', { command: ['true'], env: many(513, '') }, { env: /at most|more than/ }],
    ['a great many that are no text', { command: ['true'], env: many(20_000, 1) }, { env: /at most 512/ }],
    ['a variable without a name', { command: ['true'], env: { '': 'x' } }, { env: String }],
    ['a name with =', { command: ['true'], env: { 'A=B': 'x' } }, { env: String }],
    ['a name of two lines', { command: ['true'], env: { 'A\nB': 'x' } }, { env: String }],
    ['NUL in a value', { command: ['true'], env: { A: 'x\0y' } }, { env: String }],
    ['33 KiB of variables', { command: ['true'], env: { A: 'x'.repeat(33_792) } }, { env: String }],
    ['too many arguments', { command: Array(1025).fill('x') }, { command: /at most 1024/ }],
    ['a great many that are no text', { command: Array(60_000).fill(0) }, { command: /at most 1024/ }],
    ['too long arguments', { command: Array(5).fill('x'.repeat(32_768)) }, { command: /128 KiB/ }],
    ['a great many fields', many(20_000, 1), { body: /at most 64/ }],
  ];
  for (const [at, [what, body, fields]] of cases.entries()) {
    const answer = await call('POST', `${url}/exec`, body, at % 2 === 0 ? NDJSON : JSON_LIST);
    t.equal(answer.statusCode, 400, what);
    t.match(answer.json(), { code: 'validation_failed', fields }, what);
    t.ok(answer.body.length < 1000, `${what}: one fault is enough`);
  }
  const large = await call('POST', `${url}/exec`, { command: ['cat'], stdin: 'x'.repeat(262_144) });
  t.match([large.statusCode, large.json().code], [413, 'body_too_large']);
  t.same((await call('POST', '/api/containers', { name: 'b', env: many(513, 'x') })).json().fields, {
    env: 'must have at most 512 entries',
  });
});

t.test('a body counts as another request per 64 KiB', async (t) => {
  const { service, ada, url } = await aBoxOfAda();
  const token = await anApiToken(service, ada, { scopes: ['write'] });
  await service.ports.storage.repositories.settings.change({ requestsPerMinute: 10 });
  const body = Buffer.from(JSON.stringify({ command: ['true'], stdin: 'x'.repeat(200_000) }));
  const run = async (type: string) =>
    (await as(service, token)('POST', `${url}/exec`, body, { 'content-type': type })).statusCode;
  const statuses = [];
  for (const type of [
    'application/json',
    'Application/JSON',
    'APPLICATION/JSON; charset=utf-8',
    'application/json',
  ])
    statuses.push(await run(type));
  t.same(statuses, [200, 200, 200, 429], 'four requests each');
});

const MIB = 1_048_576;
const result = (stdout: Buffer, stderr: Buffer = Buffer.alloc(0)) => ({
  exitCode: 0,
  stdout,
  stderr,
  truncated: false,
  durationMs: 7,
});
const answered = async (stdout: Buffer, stderr?: Buffer): Promise<string> => {
  const answer = execAnswer(result(stdout, stderr));
  return typeof answer === 'string' ? answer : await text(answer);
};

t.test('control bytes do not multiply an answer', async (t) => {
  const body = await answered(Buffer.alloc(MIB), Buffer.alloc(MIB, 0x1b));
  t.ok(body.length < 4 * MIB + 200, `${body.length} bytes`);
  const { stdout, stderr, truncated } = JSON.parse(body);
  t.equal(stdout.length, Math.floor((2 * MIB) / 6));
  t.equal(stderr.length, Math.floor((2 * MIB) / 6));
  t.ok(truncated, 'and the answer says that it is cut');
  t.ok(JSON.parse(await answered(Buffer.alloc(MIB, 0xff))).truncated, 'no text at all');
});

t.test('text is never cut for its size as JSON', async (t) => {
  for (const line of ['\n', '"', '\\', 'x', 'grüße, 漢字 😀\n']) {
    const full = line.repeat(Math.floor(MIB / Buffer.byteLength(line)));
    const body = JSON.parse(await answered(Buffer.from(full)));
    t.equal(body.stdout, full, JSON.stringify(line));
    t.same([body.exit_code, body.stderr, body.truncated, body.duration_ms], [0, '', false, 7]);
  }
});

t.test('a cut falls between characters', async (t) => {
  for (let limit = 0; limit < 20; limit += 1) {
    const body = JSON.parse([...jsonOf(result(Buffer.from('a\u0000😀"ü')), limit)].join(''));
    t.ok('a\u0000😀"ü'.startsWith(body.stdout), `${limit}: ${JSON.stringify(body.stdout)}`);
    t.equal(body.truncated, limit < 1 + 6 + 4 + 2 + 2);
  }
});

t.test('a long answer is made as it is read, a short one at once', async (t) => {
  t.type(execAnswer(result(Buffer.from('short'))), 'string');
  const answer = execAnswer(result(Buffer.alloc(MIB)));
  t.type(answer, Readable);
  await new Promise((resolve) => (answer as Readable).once('readable', resolve));
  t.ok((answer as Readable).readableLength < 300_000, 'not ahead of its reader');
});

const ZEROS = ['head', '-c', '1048576', '/dev/zero'];

/** Commands over a unix socket, whose buffers in the kernel are small. */
async function commandsOfTwo(t: Test) {
  const { service, ada, box } = await aBoxOfAda();
  const bob = await aPerson(service, 'bob');
  const his = (await as(service, bob)('POST', '/api/containers', { name: 'dev', disk_mb: 512 })).json();
  const socketPath = await listenOnUnix(t, service);
  const runner =
    ({ token }: Bearer, id: string) =>
    (command: readonly string[]): ClientRequest => {
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const asked = request({ socketPath, method: 'POST', path: `/api/containers/${id}/exec`, headers });
      asked.on('error', () => {});
      asked.end(JSON.stringify({ command }));
      t.teardown(() => asked.destroy());
      return asked;
    };
  return { asAda: runner(ada, box.db_id), asBob: runner(bob, his.db_id) };
}

const answerOf = async (asked: ClientRequest): Promise<IncomingMessage> =>
  ((await once(asked, 'response')) as [IncomingMessage])[0];

t.test('unread answers count for their own user, four at once', async (t) => {
  const { asAda, asBob } = await commandsOfTwo(t);
  const unread = Array.from({ length: 6 }, () => asAda(ZEROS));
  const begun = new Set<ClientRequest>();
  for (const asked of unread) asked.once('response', () => begun.add(asked));
  while (begun.size < 4) await setImmediate();
  const large = (await json(await answerOf(asBob(ZEROS)))) as { stdout: string; truncated: boolean };
  t.ok(large.stdout.length > 340_000 && large.truncated, 'another user gets much output meanwhile');
  t.match(
    await json(await answerOf(asAda(['echo', 'small']))),
    { stdout: 'small\n' },
    'and the same user little',
  );
  t.equal(begun.size, 4, 'the other two wait');
  const [gone] = begun;
  gone?.destroy();
  while (begun.size < 5) await setImmediate();
  t.pass('one that goes away makes room for the next');
});

t.test('logs are text, stats are numbers, changes are rows', async (t) => {
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
const NOT_RUNNING = '{"error":"container is not running","code":"container_not_running"}';

/** Every access to the inside of a container fails with this. */
function failing(error: Error): Pick<Ports, 'commands' | 'files' | 'insight'> {
  const fail = () => Promise.reject(error);
  return {
    commands: { open: fail },
    files: { open: fail, write: fail, remove: fail },
    insight: { logs: fail, usage: fail, load: fail, changes: fail },
  };
}

t.test('commands need a running container; logs and changes do not', async (t) => {
  let nowMs = 0;
  const { call, url, runtime } = await aBoxOfAda({ monotonicMs: () => nowMs });
  const statuses = async (words: string | RegExp = NOT_RUNNING) => {
    const answers: number[] = [];
    for (const [method, path, payload] of ROUTES) {
      const { statusCode, body } = await call(method, `${url}${path}`, payload, NDJSON);
      if (statusCode === 409) t.match(body, words);
      answers.push(statusCode);
    }
    return answers;
  };
  const refused = [409, 409, 409, 409, 200, 409, 200];
  const [box] = runtime.boxes.values();
  if (box) box.startedAt = null;
  t.same(await statuses(), refused, 'ended behind our back');
  if (box) Object.assign(box, { startedAt: new Date(), paused: true });
  t.same(await statuses(/"code":"container_(paused|not_running)"/), refused, 'paused');
  if (box) box.paused = false;
  await call('POST', `${url}/stop`);
  t.same(await statuses(), refused, 'stopped');
  await call('POST', `${url}/start`);
  runtime.boxes.clear();
  nowMs += 60_000;
  t.same(await statuses(), Array(7).fill(409), 'vanished');
});

t.test("another user's container looks unknown, without asking the engine", async (t) => {
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

t.test("a full queue answers with a retry time, a missing engine with the route's failure", async (t) => {
  const busy = await aBoxOfAda(failing(new RuntimeBusy('engine_busy', 5)));
  const down = await aBoxOfAda(failing(new RuntimeUnavailable('no answer at /secret/socket')));
  const lacks = await aBoxOfAda(failing(new RightMissing('get pods/exec', '403 of the user /secret')));
  for (const [method, path, payload, error] of ROUTES) {
    const refused = await busy.call(method, `${busy.url}${path}`, payload, NDJSON);
    const { statusCode, headers } = refused;
    t.same([statusCode, headers['retry-after'], refused.json().code], [503, '5', 'engine_busy'], path);
    const failed = await down.call(method, `${down.url}${path}`, payload, NDJSON);
    t.same([failed.statusCode, failed.json()], [500, { error, code: 'internal_error' }], path);
    const barred = (await lacks.call(method, `${lacks.url}${path}`, payload, NDJSON)).json();
    t.match(barred, { error: /lacks a right .*: get pods\/exec$/, code: 'engine_right_missing' }, path);
  }
});

t.test('a change that may have been made is never answered with a retry time', async (t) => {
  const { call, url } = await aBoxOfAda(failing(new OutcomeUnknown('no answer at /secret/socket')));
  for (const [method, path, payload, error] of ROUTES) {
    const { statusCode, headers, body } = await call(method, `${url}${path}`, payload, NDJSON);
    const isCommand = path === '/exec';
    const code = `${isCommand ? 'command' : 'file'}_outcome_unknown`;
    if (method === 'GET')
      t.same([statusCode, JSON.parse(body)], [500, { error, code: 'internal_error' }], path);
    else t.same([statusCode, JSON.parse(body).code, headers['retry-after']], [503, code, undefined], path);
    t.notMatch(body, 'secret');
  }
});

t.test('changes are read once a minute, in one container of a user and two in all', async (t) => {
  const runtime = memoryRuntime();
  const asked: { readonly runtimeId: string; readonly answer: () => void }[] = [];
  const { insight } = memoryAccess(runtime);
  const changes: ContainerInsight['changes'] = async (handle) => {
    await new Promise<void>((answer) => asked.push({ runtimeId: handle.runtimeId, answer }));
    return await insight.changes(handle);
  };
  let nowMs = 0;
  const service = await aService({
    runtime,
    insight: { ...insight, changes },
    monotonicMs: () => nowMs,
  });
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
  nowMs += 60_000;
  const later = one.get();
  t.same((await asking(5)).at(-1), one.id);
  asked[4]?.answer();
  t.equal((await later).statusCode, 200);
});
