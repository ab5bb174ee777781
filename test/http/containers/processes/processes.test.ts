import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { outputLines } from '../../../../src/adapters/http/replies/process-output-reply.ts';
import { memoryProcesses } from '../../../../src/adapters/memory/containers/processes/container-processes.ts';
import { memoryPorts, memoryRuntime } from '../../../../src/adapters/memory/index.ts';
import type { OutputPiece } from '../../../../src/ports/containers/processes/container-processes.ts';
import { eventually, waitForValue } from '../../../support/patience.ts';
import { aBoxOfAda } from '../../../support/service/cluster.ts';
import { refusesByField } from '../../../support/service/refusals.ts';
import { aPerson, as } from '../../../support/service/service.ts';
import { listenOnUnix } from '../../../support/service/streams.ts';

const NOBODY = '99999999-9999-4999-8999-999999999999';
const BYTES = { 'content-type': 'application/octet-stream' };

async function aScene(ports: Parameters<typeof aBoxOfAda>[0] = {}) {
  const scene = await aBoxOfAda(ports);
  const url = `${scene.url}/processes`;
  const start = async (body: object, headers = {}) => (await scene.call('POST', url, body, headers)).json();
  const linesOf = async (id: string, query = '') => {
    const answer = await scene.call('GET', `${url}/${id}/output${query}`);
    return answer.body
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  };
  const input = (id: string, body: string, query = '') =>
    scene.service.http.inject({
      method: 'POST',
      url: `${url}/${id}/input${query}`,
      payload: body,
      headers: { ...BYTES, authorization: `Bearer ${scene.ada.token}` },
    });
  return { ...scene, url, start, linesOf, input };
}

t.test('a process is started, followed and listed', async (t) => {
  const { call, url, start, linesOf } = await aScene();
  const started = await call('POST', url, { command: ['echo', 'grüße'], name: 'greeting' });
  t.equal(started.statusCode, 201);
  const { id } = started.json();
  const running = { id, name: 'greeting', command: ['echo', 'grüße'], status: 'running', exit_code: null };
  t.match(started.json(), { ...running, stdin: false, pid: Number, ended_at: null, ended_by: null });
  const lines = await linesOf(id, '?follow=true');
  const last = lines.pop();
  t.equal(lines.map(({ data }) => data).join(''), 'grüße\n');
  t.match(lines[0], { stream: 'stdout', offset: 0 });
  t.same(last, { exit_code: 0, signal: null, status: 'ended', ended_by: 'exit', after: '8,0' });
  t.same(
    (await linesOf(id, '?after=6'))
      .slice(0, -1)
      .map(({ data }) => data)
      .join(''),
    'e\n',
  );
  t.match((await call('GET', `${url}/${id}`)).json(), {
    status: 'ended',
    exit_code: 0,
    signal: null,
    ended_by: 'exit',
    output: { stdout: { bytes: 8, first_kept: 0, truncated: false }, stderr: { bytes: 0, first_kept: 0 } },
  });
  const { id: other } = await start({ command: ['/bin/sleep', '3600'] });
  t.match((await call('GET', url)).json(), { processes: [{ id: other, name: 'sleep' }, { id }] });
  t.match((await call('GET', `${url}?status=running`)).json().processes, [{ id: other }]);
  t.match(await linesOf(other), [{ exit_code: null, status: 'running', after: '0,0' }], 'not followed');
  t.match((await call('DELETE', `${url}/${other}`)).json(), {
    status: 'ended',
    ended_by: 'signal',
    signal: 'TERM',
  });
  t.equal((await call('DELETE', `${url}/${other}`)).statusCode, 200, 'repeatable');
});

t.test('input is taken once', async (t) => {
  const { call, url, start, linesOf, input } = await aScene();
  const { id } = await start({ command: ['cat'], stdin: true });
  t.same((await input(id, 'hello ', '?offset=0')).json(), { input_offset: 6 });
  t.same((await input(id, 'hello ', '?offset=0')).json(), { input_offset: 6 });
  const gap = await input(id, 'x', '?offset=9');
  t.match([gap.statusCode, gap.json()], [409, { code: 'process_input_gap', input_offset: 6 }]);
  t.same((await input(id, '{"not": json', '?eof=true')).json(), { input_offset: 18 });
  t.equal((await linesOf(id, '?follow=true')).map(({ data }) => data ?? '').join(''), 'hello {"not": json');
  t.match((await input(id, 'x')).json(), { code: 'process_ended' });
  const { id: deaf } = await start({ command: ['sleep', '3600'] });
  t.match((await input(deaf, 'x')).json(), { code: 'process_without_input' });
  t.equal((await input(deaf, 'x'.repeat(1_048_577))).statusCode, 413);
  const signal = (id: string, name: string) => call('POST', `${url}/${id}/signal`, { signal: name });
  t.match((await signal(deaf, 'SIGKILL')).json(), { code: 'validation_failed', fields: { signal: String } });
  t.match((await signal(deaf, 'KILL')).json(), { status: 'ended', exit_code: 137, signal: 'KILL' });
  t.match((await signal(deaf, 'KILL')).json(), { code: 'process_ended' });
});

t.test('a process runs in a terminal of a size', async (t) => {
  const { call, url, start, linesOf, input } = await aScene();
  const pty = { cols: 132, rows: 43 };
  const { id: sized } = await start({ command: ['stty', 'size'], pty });
  t.match(await linesOf(sized, '?follow=true'), [{ data: '4' }, { data: '3 132\r\n' }, { exit_code: 0 }]);
  const { id, stdin } = await start({ command: ['cat'], pty });
  t.ok(stdin, 'it takes input');
  t.same((await input(id, 'x', '?offset=0')).json(), { input_offset: 1 });
  const resize = (id: string, size: object) => call('POST', `${url}/${id}/resize`, size);
  t.match((await resize(id, { cols: 90, rows: 20 })).json(), { id, pty: { cols: 90, rows: 20 } });
  t.match((await call('GET', `${url}/${id}`)).json(), { pty: { cols: 90, rows: 20 } });
  t.match((await resize(id, { cols: 1001, rows: 20 })).json().fields, { cols: String });
  const { id: plain, pty: none } = await start({ command: ['sleep', '3600'] });
  t.equal(none, null);
  t.match((await resize(plain, pty)).json(), { code: 'process_without_terminal' });
  t.match((await resize(sized, pty)).json(), { code: 'process_ended' });
  t.match(await start({ command: ['cat'], pty, stdin: false }), { stdin: false });
});

t.test('what is not there, not allowed or not valid', async (t) => {
  const { service, call, url, start } = await aScene();
  const { id } = await start({ command: ['sleep', '3600'] });
  const eve = as(service, await aPerson(service, 'eve'));
  const ways = (path: string) =>
    [
      ['GET', path],
      ['GET', `${path}/output`],
      ['POST', `${path}/signal`, { signal: 'TERM' }],
      ['POST', `${path}/resize`, { cols: 80, rows: 24 }],
      ['DELETE', path],
    ] as const;
  const notThere = await call('GET', `${url}/${NOBODY}`);
  t.match([notThere.statusCode, notThere.json().code], [404, 'process_not_found']);
  for (const unknown of [NOBODY, 'x', '..', id.slice(0, 8)])
    for (const [method, path, body] of ways(`${url}/${unknown}`)) {
      if (unknown === '..') continue;
      t.equal((await call(method, path, body)).body, notThere.body, `${method} ${path}`);
    }
  const foreign = await eve('GET', `/api/containers/${NOBODY}`);
  for (const [method, path, body] of ways(`${url}/${id}`))
    t.equal((await eve(method, path, body)).body, foreign.body, method);
  await refusesByField<object>(t, (body) => call('POST', url, body), [
    [{ command: [] }, 'command'],
    [{ command: ['true'], pty: { cols: 0, rows: 24 } }, 'pty'],
    [{ command: ['true'], name: '-x' }, 'name'],
    [{ command: ['true'], env: { 'A=B': '' } }, 'env'],
    [{ command: ['true'], timeout_seconds: 0 }, 'timeout_seconds'],
    [{ command: ['true'], keep_output_bytes: 8_388_609 }, 'keep_output_bytes'],
  ]);
  for (const query of ['?after=x', '?after=1,2,3', '?after=9'])
    t.match((await call('GET', `${url}/${id}/output${query}`)).json().fields, { after: String }, query);
  await start({ command: ['sleep', '3600'], name: 'web' });
  t.match((await call('POST', url, { command: ['true'], name: 'web' })).json(), { code: 'name_taken' });
  await call('POST', `${url}/../stop`.replace('/processes/..', ''));
  const stopped = await call('GET', `${url}/${id}`);
  t.match(stopped.json(), { status: 'ended', ended_by: 'container_stopped', exit_code: null });
  t.match((await call('POST', url, { command: ['true'] })).json(), { code: 'container_not_running' });
  t.equal((await call('DELETE', `${url}/${id}`)).statusCode, 200);
});

t.test('output stays when the container is stopped or recreated', async (t) => {
  const { service, call, box, url, start, linesOf, input } = await aScene();
  const { id: ended } = await start({ command: ['echo', 'done'] });
  const { id: running } = await start({ command: ['cat'], stdin: true });
  await input(running, 'so far');
  const text = async (id: string, query = '') =>
    (await linesOf(id, query)).map(({ data = '' }: { data?: string }) => data).join('');
  await waitForValue(
    async () => await text(running),
    (now) => now === 'so far',
  );
  await service.settleProcesses();
  await call('POST', `/api/containers/${box.db_id}/stop`);
  const output = async (id: string) => (await call('GET', `${url}/${id}`)).json().output;
  t.equal(await text(ended), 'done\n');
  t.equal(await text(ended, '?after=2'), 'ne\n');
  t.match(await output(ended), { stdout: { bytes: 5, first_kept: 0, truncated: false } });
  t.equal(await text(running), 'so far');
  t.match(await output(running), { stdout: { bytes: 6, truncated: true } }, 'it may have written more');
  await call('POST', `/api/containers/${box.db_id}/start`);
  await service.settleProcesses();
  t.match(await output(running), { stdout: { bytes: 6, truncated: true } }, 'nobody saw its end');
  t.match(await output(ended), { stdout: { truncated: false } });
  const { resources } = (await call('GET', `/api/containers/${box.db_id}`)).json();
  const limits = { name: 'dev', ...resources, disk_mb: resources.disk_mb * 2 };
  t.match((await call('PATCH', `/api/containers/${box.db_id}`, limits)).json(), { restarted: true });
  t.equal(await text(ended), 'done\n', 'the new container never had it');
  t.match(await output(running), { stdout: { bytes: 6, truncated: true } });
  t.match(await linesOf(ended, '?follow=true'), [
    { data: 'done\n' },
    { status: 'ended', exit_code: 0, after: '5,0' },
  ]);
});

t.test('a container has at most 64 processes that run', async (t) => {
  const { call, url, start } = await aScene();
  const some = (count: number) =>
    Promise.all(Array.from({ length: count }, () => call('POST', url, { command: ['sleep', '3600'] })));
  const answers = [...(await some(30)), ...(await some(30)), ...(await some(8))];
  const statuses = answers.map(({ statusCode }) => statusCode);
  t.same(statuses.sort(), [...Array(64).fill(201), ...Array(4).fill(409)]);
  t.match(await start({ command: ['true'] }), { code: 'process_limit_reached' });
  const [first] = (await call('GET', url)).json().processes;
  await call('DELETE', `${url}/${first.id}`);
  t.match(await start({ command: ['true'] }), { status: 'running' });
});

t.test('a start repeated with its key starts nothing twice, and continues one that was cut', async (t) => {
  const runtime = memoryRuntime();
  const processes = memoryProcesses(runtime);
  let isKilled = false;
  const startUnlessKilled: typeof processes.start = async (...args) => {
    if (isKilled) throw new Error('killed');
    return await processes.start(...args);
  };
  const { call, url, start } = await aScene({
    runtime,
    processes: { ...processes, start: startUnlessKilled },
  });
  const key = { 'idempotency-key': 'one' };
  const body = { command: ['sleep', '3600'] };
  const { id, pid } = await start(body, key);
  t.match(await start(body, key), { id, pid });
  // As after a kill between record and start: the container knows nothing.
  const cut = { 'idempotency-key': 'two' };
  isKilled = true;
  t.equal((await call('POST', url, body, cut)).statusCode, 500);
  isKilled = false;
  const [left] = (await call('GET', `${url}?status=starting`)).json().processes;
  const after = await start(body, cut);
  t.match(after, { id: left.id, status: 'running' });
  t.equal((await call('GET', `${url}?status=running`)).json().processes.length, 2);
});

/** The service with a container of Ada's and one of Eve's, whose shell does not answer until `answer` is called. */
async function aSceneWithEve() {
  const runtime = memoryRuntime();
  const processes = memoryProcesses(runtime);
  const answers = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let silentId = '';
  const list: typeof processes.list = async (handle) => {
    if (handle.runtimeId === silentId) {
      asked.resolve();
      await answers.promise;
    }
    return await processes.list(handle);
  };
  const scene = await aScene({ ...memoryPorts(), runtime, processes: { ...processes, list } });
  const eve = as(scene.service, await aPerson(scene.service, 'eve'));
  const { db_id: dbId, id } = (await eve('POST', '/api/containers', { name: 'dev', disk_mb: 512 })).json();
  await eve('POST', `/api/containers/${dbId}/processes`, { command: ['sleep', '3600'] });
  silentId = id;
  return { ...scene, asked: asked.promise, answer: answers.resolve };
}

t.test('a process that starts during a pass keeps its container', async (t) => {
  const { service, call, box, start, asked, answer } = await aSceneWithEve();
  await call('PATCH', `/api/containers/${box.db_id}/lifetime`, { idle_seconds: 60 });
  const settling = service.settleProcesses();
  await asked;
  await start({ command: ['sleep', '3600'] });
  answer();
  await settling;
  await service.keepUses();
  const { lifetimes } = service.ports.storage.repositories;
  t.ok((await lifetimes.activity(box.db_id)).some(({ kind }) => kind === 'process'));
});

t.test('a container that does not answer delays no process of another owner', async (t) => {
  const { service, box, start, answer, input } = await aSceneWithEve();
  const { id } = await start({ command: ['cat'], stdin: true });
  await input(id, '', '?eof=true');
  const { processes } = service.ports.storage.repositories;
  const state = async () => (await processes.find(id, box.db_id))?.state.kind;
  t.equal(await state(), 'running', 'nobody has noticed its end yet');
  await service.settleProcesses();
  t.equal(await state(), 'ended');
  await service.settleProcesses();
  answer();
});

t.test('a follower is cut when its credential ends', async (t) => {
  const { service, ada, url, start } = await aScene();
  const socketPath = await listenOnUnix(t, service);
  const { id } = await start({ command: ['cat'], stdin: true });
  const headers = { authorization: `Bearer ${ada.token}` };
  const asked = request({ socketPath, path: `${url}/${id}/output?follow=true`, headers });
  asked.end();
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  t.equal(answer.headers['content-type'], 'application/x-ndjson; charset=utf-8');
  const cut = text(answer).then(
    () => 'whole',
    () => 'cut',
  );
  await as(service, ada)('POST', '/api/auth/logout');
  t.equal(
    await eventually(
      async () => await cut,
      (how) => how === 'cut',
    ),
    'cut',
  );
});

t.test('lines keep every byte, and no character is divided', async (t) => {
  async function* pieces(data: Buffer, size: number): AsyncGenerator<OutputPiece> {
    for (let at = 0; at < data.length; at += size)
      yield { stream: 'stdout', offset: 100 + at, data: data.subarray(at, at + size) };
  }
  const full = Buffer.from('grüße 漢字 🚢\n'.repeat(20));
  const binary = Buffer.from(Array.from({ length: 1000 }, (_, at) => (at * 7) % 256));
  for (const data of [full, binary, Buffer.from('ends in the middle 🚢').subarray(0, -1)])
    for (const size of [1, 2, 3, 5, 40_000]) {
      const output = {
        start: { stdout: 100, stderr: 0 },
        pieces: pieces(data, size),
        end: async () => {},
        state: async () => ({}) as never,
      };
      const lines = [];
      for await (const line of outputLines(output, (_process, after) => ({ after })))
        lines.push(JSON.parse(line));
      t.same(lines.pop(), { after: `${100 + data.length},0` });
      let at = 100;
      const read = lines.map(({ offset, data, base64 }) => {
        t.equal(offset, at);
        const bytes = data === undefined ? Buffer.from(base64, 'base64') : Buffer.from(data);
        at += bytes.length;
        return bytes;
      });
      t.ok(Buffer.concat(read).equals(data), `pieces of ${size}`);
      if (data === full)
        t.ok(
          lines.every(({ data }) => data !== undefined),
          'text stays text',
        );
    }
});
