import t, { type Test } from 'tap';
import { dockerAccess } from '../../../../src/adapters/docker/container-access.ts';
import { dockerAt } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { shellIn } from '../../../support/engine/container.ts';
import { engineOrSkip, type TestInstance, testInstance } from '../../../support/engine/engine.ts';
import { waitFor } from '../../../support/patience.ts';
import { aLineToEngine, type Break } from '../../../support/process/lines.ts';
import { NDJSON } from '../../../support/service/cluster.ts';
import { aPerson, aService, as } from '../../../support/service/service.ts';

const BREAKS: readonly Break[] = ['end', 'reset'];
const COMMAND_UNKNOWN = [503, 'command_outcome_unknown', undefined];
const FILE_UNKNOWN = [503, 'file_outcome_unknown', undefined];

const engine = await engineOrSkip(t);
if (engine !== null && !engine.isLocal) {
  t.pass('lost connections', { skip: 'the line leads to a unix socket' });
} else if (engine !== null) {
  const instance = await testInstance(t, engine);
  const scene = await aScene(t, instance);
  await t.test('a command whose connection breaks has an unknown outcome', (t) => running(t, scene));
  await t.test('a command whose start is not confirmed has an unknown outcome', (t) => starting(t, scene));
  await t.test('a command without a connection to the engine was not started', (t) => unstarted(t, scene));
  await t.test('a streamed command whose connection breaks has no last line', (t) => streaming(t, scene));
  await t.test('a command that closes its output is waited for', (t) => closing(t, scene));
  await t.test('a file whose change is not confirmed has an unknown outcome', (t) => changing(t, scene));
  await t.test('what is only read fails when its connection breaks', (t) => reading(t, scene));
  // The last: it deletes the container.
  await t.test('a command ends with its container', (t) => ending(t, scene));
}

/** A service, with records in memory, whose line to the engine can break inside its containers. */
async function aScene(t: Test, instance: TestInstance) {
  const line = await aLineToEngine(t, instance.endpoint);
  const docker = dockerAt({ host: line.host, port: line.port, tls: null });
  const { commands, files, insight } = dockerAccess(docker, instance.instanceId);
  const service = await aService({
    runtime: instance.runtime,
    commands,
    files,
    insight,
    runtimeNode: 'test',
  });
  const call = as(service, await aPerson(service, 'ada'));
  const box = (await call('POST', '/api/containers', { name: 'dev', disk_mb: 512 })).json();
  const url = `/api/containers/${box.db_id}`;
  const sh = shellIn(instance.commands, { node: 'test', runtimeId: box.id });
  const ask = async (...request: Parameters<typeof call>) => {
    const answer = await call(...request);
    return [answer.statusCode, answer.json().code, answer.headers['retry-after']];
  };
  const run = (script: string, timeout_seconds = 3600) =>
    ask('POST', `${url}/exec`, { command: ['sh', '-c', script], timeout_seconds });
  return { line, call, ask, run, sh, url };
}

type Scene = Awaited<ReturnType<typeof aScene>>;

/** Whether the program that the mark names is at work. */
async function isAtWork({ sh }: Scene, mark: string): Promise<boolean> {
  return (await sh(`grep -l "^${mark}$" /workspace/begun 2>/dev/null || true`)) !== '';
}

async function running(t: Test, scene: Scene): Promise<void> {
  const { line, run, sh } = scene;
  const limited = run('echo limited >> /workspace/begun; exec sleep 4321', 8);
  await waitFor(() => isAtWork(scene, 'limited'));
  for (const then of ['up', 'down'] as const) {
    for (const how of BREAKS) {
      const mark = `${how}-${then}`;
      const answer = run(`echo some output; echo ${mark} >> /workspace/begun; exec sleep 3600`);
      await waitFor(() => isAtWork(scene, mark));
      line.cut(how, then);
      t.same(await answer, COMMAND_UNKNOWN, mark);
      line.restore();
    }
  }
  t.same(await limited, COMMAND_UNKNOWN);
  const left = () => sh(`grep -l 'sleep.43[2]1' /proc/[0-9]*/cmdline 2>/dev/null || true`);
  await waitFor(async () => (await left()) === '', { what: 'its time limit ends it' });
}

/** The engine starts most commands whose client is gone, but not all. */
async function starting(t: Test, { line, run }: Scene): Promise<void> {
  for (const how of BREAKS) {
    line.cutBefore(/^HTTP.* 101 /, how);
    t.same(await run('true'), COMMAND_UNKNOWN, how);
  }
  line.restore();
}

async function unstarted(t: Test, { line, run, sh }: Scene): Promise<void> {
  line.cut('reset', 'down');
  t.same(await run('touch /workspace/never'), [500, 'internal_error', undefined]);
  line.restore();
  t.equal(await sh('ls /workspace | grep never || true'), '');
}

async function streaming(t: Test, scene: Scene): Promise<void> {
  const { line, call, url } = scene;
  for (const how of BREAKS) {
    const script = `echo output; echo streamed-${how} >> /workspace/begun; exec sleep 3600`;
    const answer = call('POST', `${url}/exec`, { command: ['sh', '-c', script] }, NDJSON);
    await waitFor(() => isAtWork(scene, `streamed-${how}`));
    line.cut(how);
    const said = await answer.then(
      ({ body }) => body,
      (error: Error) => error.message,
    );
    t.notMatch(said, /exit_code/, how);
  }
}

async function closing(t: Test, { call, url }: Scene): Promise<void> {
  const command = ['sh', '-c', 'echo output; exec >&- 2>&-; sleep 3; exit 3'];
  const answer = await call('POST', `${url}/exec`, { command });
  t.match([answer.statusCode, answer.json()], [200, { exit_code: 3, stdout: 'output\n', truncated: false }]);
}

async function changing(t: Test, { line, call, ask, sh, url }: Scene): Promise<void> {
  for (const how of BREAKS) {
    const path = `${url}/files?path=${how}`;
    line.cutBefore(/\bready\n/, how);
    t.same(await ask('PUT', path, Buffer.from('new')), [500, 'internal_error', undefined], 'not begun');
    t.equal(await sh(`ls /workspace | grep '^${how}$' || true`), '', 'nothing was changed');
    line.cutBefore(/\bnew\n/, how);
    t.same(await ask('PUT', path, Buffer.from('new')), FILE_UNKNOWN, `write: ${how}`);
    t.equal(await sh(`cat /workspace/${how}`), 'new', 'it was written');
    line.cutBefore(/\bremoved\n/, how);
    t.same(await ask('DELETE', path), FILE_UNKNOWN, `delete: ${how}`);
    t.equal(await sh(`ls /workspace | grep '^${how}$' || true`), '', 'it was deleted');
    t.match(await call('DELETE', path), { statusCode: 404 });
  }
  line.restore();
}

async function reading(t: Test, { line, ask, sh, url }: Scene): Promise<void> {
  await sh('mkdir /workspace/many && cd /workspace/many && seq 5000 | xargs touch');
  const failed = [500, 'internal_error', undefined];
  for (const how of BREAKS) {
    line.cutBefore(/\.\/4\d{3}\/\n/, how);
    t.same(
      await ask('GET', `${url}/files?path=many`, undefined, { accept: 'application/json' }),
      failed,
      how,
    );
    line.cutBefore(/"cpu_stats"/, how);
    t.same(await ask('GET', `${url}/stats`), failed, how);
  }
  line.restore();
}

async function ending(t: Test, scene: Scene): Promise<void> {
  const { call, url } = scene;
  for (const method of ['POST', 'DELETE'] as const) {
    await call('POST', `${url}/start`);
    const script = `echo ${method} >> /workspace/begun; exec sleep 3600`;
    const answer = call('POST', `${url}/exec`, { command: ['sh', '-c', script] });
    await waitFor(() => isAtWork(scene, method));
    await call(method, method === 'POST' ? `${url}/stop` : url);
    const { statusCode, json } = await answer;
    t.match([statusCode, json()], [200, { exit_code: Number }], method);
  }
}
