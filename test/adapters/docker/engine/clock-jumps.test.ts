import { createServer } from 'node:http';
import { mock } from 'node:test';
import t, { type Test } from 'tap';
import { createOrAdopt } from '../../../../src/adapters/docker/containers/create-container.ts';
import { engineCalls } from '../../../../src/adapters/docker/engine/engine-client.ts';
import { aSpec } from '../../../support/engine/container.ts';
import { dockerOf } from '../../../support/engine/printing-engine.ts';

const HOUR_MS = 3_600_000;

type Answer = readonly [status: number, body: object];

/** Calls to an engine that answers a request by its method and path, and counts its pings. */
async function anEngine(t: Test, answerTo: (method: string, path: string) => Answer) {
  const seen = { pings: 0 };
  const server = createServer((request, response) => {
    request.resume();
    const path = new URL(request.url ?? '', 'http://engine').pathname;
    if (path === '/_ping') {
      seen.pings += 1;
      response.end('OK');
      return;
    }
    const [status, body] = answerTo(request.method ?? '', path);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  return { calls: engineCalls(await dockerOf(t, server)), seen };
}

/** The time of day stands still until it jumps. */
function jumpingClock(t: Test) {
  mock.timers.enable({ apis: ['Date'], now: Date.now() });
  t.teardown(() => mock.timers.reset());
  return { jump: (ms: number) => mock.timers.setTime(Date.now() + ms) };
}

t.test('an engine is pinged again after a second, however the time of day jumps', async (t) => {
  const { calls, seen } = await anEngine(t, () => [200, {}]);
  const clock = jumpingClock(t);
  let nowMs = 5_000;
  const { mock: monotonic } = mock.method(performance, 'now', () => nowMs);
  t.teardown(() => monotonic.restore());
  const read = () =>
    calls.read(5, (abortSignal) => calls.docker.getContainer('one').inspect({ abortSignal }));
  await read();
  clock.jump(HOUR_MS);
  await read();
  t.equal(seen.pings, 1, 'it has just answered');
  clock.jump(-2 * HOUR_MS);
  nowMs += 1_000;
  await read();
  t.equal(seen.pings, 2);
});

t.test('a container that another attempt makes is waited for, however the time of day jumps', async (t) => {
  const clock = jumpingClock(t);
  const spec = aSpec('image');
  const settings = {
    instanceId: 'here',
    network: 'none',
    cgroupParent: null,
    hostCpuMillicores: 1_000,
    processLimits: { nofile: 1_024, sigpending: 1_024, msgqueue: 65_536, memlock: 65_536 },
  };
  const Labels = { 'berth.instance': 'here', 'berth.db_id': spec.dbId, 'berth.generation': '1' };
  let creates = 0;
  const { calls } = await anEngine(t, (method) => {
    if (method === 'POST') {
      creates += 1;
      return [409, { message: 'the name is in use' }];
    }
    if (creates === 1) clock.jump(HOUR_MS);
    return creates < 2
      ? [404, { message: 'no such container' }]
      : [200, { Id: 'theirs', Config: { Labels } }];
  });
  t.equal(await createOrAdopt(calls, spec, settings), 'theirs');
});
