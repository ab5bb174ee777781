import t from 'tap';
import { memoryAccess, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { RuntimeFailure } from '../../../src/ports/containers/container-runtime.ts';
import { LoadUnknown } from '../../../src/ports/containers/inside/container-insight.ts';
import { aPerson, aService, as, small, stateOf } from '../../support/service/service.ts';

const silence = (): Error => new LoadUnknown('a container reports no figures');
const nodeFault = (): Error => new RuntimeFailure('the engine of the node one: 500');

/** Ada's container with this lifetime; each measurement throws what `measured.fault` makes, or shows `millicores`. */
async function anUnmeasured(body: object) {
  const runtime = memoryRuntime();
  const measured: { fault: (() => Error) | null; millicores: number } = { fault: silence, millicores: 0 };
  const load = async () => {
    if (measured.fault !== null) throw measured.fault();
    return { at: new Date(), cpuMillicores: measured.millicores, memoryBytes: 1, pids: 1, memoryKills: 0 };
  };
  const service = await aService({ runtime, insight: { ...memoryAccess(runtime).insight, load } });
  const call = as(service, await aPerson(service, 'ada'));
  const made = await call('POST', '/api/containers', { name: 'dev', ...small, idle_seconds: 60, ...body });
  const url = `/api/containers/${made.json().db_id}`;
  const pass = async (minutes: number): Promise<void> => {
    for (let left = minutes; left > 0; left -= 0.5) {
      service.clock.advance(30_000);
      await service.endContainers();
    }
  };
  const status = async (): Promise<string> => (await call('GET', url)).json().status;
  const endings = () => stateOf(service).events.filter(({ type }) => type === 'container_ending');
  return { service, call, url, pass, status, measured, endings };
}

t.test('a silent container ends for idleness only after an hour', async (t) => {
  const { pass, status } = await anUnmeasured({});
  await pass(60);
  t.equal(await status(), 'running');
  await pass(5);
  t.equal(await status(), 'stopped');
});

t.test('a silent container ends only after silence for its whole idle time', async (t) => {
  const { pass, status } = await anUnmeasured({ idle_seconds: 7_200 });
  await pass(120 + 110);
  t.equal(await status(), 'running');
  await pass(15);
  t.equal(await status(), 'stopped');
});

t.test('the files of a silent container stay, whatever happens to an idle one', async (t) => {
  const { pass, status, endings } = await anUnmeasured({ on_idle: 'delete' });
  await pass(70);
  t.equal(await status(), 'stopped');
  t.match(endings(), [{ data: { action: 'stop', reason: /will be stopped/ } }], 'and the warning says so');
});

t.test('a silent ephemeral container is deleted, unless it has been at work', async (t) => {
  const { pass, status, measured } = await anUnmeasured({ ephemeral: true });
  Object.assign(measured, { fault: null, millicores: 500 });
  await pass(5);
  measured.fault = silence;
  await pass(180);
  t.equal(await status(), 'running');
  const quiet = await anUnmeasured({ ephemeral: true });
  await quiet.pass(70);
  t.equal((await quiet.call('GET', quiet.url)).statusCode, 404);
});

t.test('a fault of a node or an engine says nothing about its containers', async (t) => {
  const { pass, status, measured } = await anUnmeasured({});
  measured.fault = nodeFault;
  await pass(300);
  t.equal(await status(), 'running');
  measured.fault = silence;
  await pass(55);
  measured.fault = nodeFault;
  await pass(1);
  measured.fault = silence;
  await pass(55);
  t.equal(await status(), 'running', 'silence begins anew');
});

t.test('a silence before an answer, a start, a use or a time without questions does not count', async (t) => {
  const { service, pass, status, measured, call, url } = await anUnmeasured({});
  await pass(55);
  measured.fault = null;
  await pass(0.5);
  measured.fault = silence;
  await pass(55);
  t.equal(await status(), 'running', 'after an answer');
  await call('POST', `${url}/stop`);
  await call('POST', `${url}/start`);
  await pass(55);
  t.equal(await status(), 'running', 'after a start');
  await call('POST', `${url}/exec`, { command: ['true'] });
  await pass(55);
  t.equal(await status(), 'running', 'after a use');
  service.clock.advance(3_600_000);
  await pass(55);
  t.equal(await status(), 'running', 'after a time without questions');
  await pass(10);
  t.equal(await status(), 'stopped');
});
