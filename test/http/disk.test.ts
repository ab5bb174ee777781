import t from 'tap';
import { memoryRuntime } from '../../src/adapters/memory/index.ts';
import type { MemoryState } from '../../src/adapters/memory/state.ts';
import { RuntimeUnavailable } from '../../src/ports/container-runtime.ts';
import { aPerson, aService, as } from '../support/service.ts';

const MIB = 1_048_576;
const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 1000 };

async function withContainer(options: Parameters<typeof aService>[1] = {}) {
  const runtime = memoryRuntime();
  const service = await aService({ runtime }, options);
  const call = as(service, await aPerson(service, 'ada'));
  const box = (await call('POST', '/api/containers', { name: 'dev', ...small })).json();
  const url = `/api/containers/${box.db_id}`;
  const volume = runtime.volumes.get(box.volume.name);
  if (volume === undefined) throw new Error('no volume');
  const pass = async (usedMb?: number): Promise<void> => {
    if (usedMb !== undefined) volume.usedBytes = usedMb * MIB;
    service.clock.advance(60_000);
    await service.measureDisks();
  };
  const now = async () => (await call('GET', url)).json();
  const patch = (over: object) => call('PATCH', url, { name: 'dev', ...small, ...over });
  const { state } = service.ports.storage as unknown as { state: MemoryState };
  return { runtime, service, call, box, url, volume, pass, now, patch, state };
}

t.test('what a volume holds is told, with what keeps its size', async (t) => {
  const { box, volume, pass, now } = await withContainer();
  t.same(box.volume, { name: box.volume.name, size_mb: 1000, used_mb: null, quota: 'soft' });
  await pass(300);
  t.match((await now()).volume, { used_mb: 300, quota: 'soft' });
  volume.quota = 'hard';
  volume.usedBytes = null;
  await pass();
  t.match((await now()).volume, { used_mb: 300, quota: 'hard' }, 'what cannot be counted stays as it was');
});

t.test(
  'a soft quota: above 110 % it is stopped with the reason shown, above 100 % not started',
  async (t) => {
    const { call, url, pass, now, state, volume, runtime } = await withContainer();
    await pass(1100);
    t.match(await now(), { status: 'running', status_reason: null, volume: { used_mb: 1100 } });
    await pass(1101);
    t.match(await now(), {
      status: 'stopped',
      status_reason: /1101 of 1000 MB .* more than 110 %/,
    });
    t.match([...runtime.boxes.values()], [{ startedAt: null }]);
    t.match(state.events.at(-1), { type: 'container_stopped', data: { status: 'stopped' } });
    t.equal(state.events.filter(({ type }) => type === 'container_stopped').length, 1);
    t.match(state.audit.at(-1), { userId: null, action: 'container_stopped', userAgent: 'berth' });
    await pass();
    t.equal(state.events.filter(({ type }) => type === 'container_stopped').length, 1, 'and once only');

    const refused = await call('POST', `${url}/start`);
    t.same([refused.statusCode, refused.json().code], [409, 'disk_quota_exceeded']);
    volume.usedBytes = 1000 * MIB;
    t.equal((await call('POST', `${url}/start`)).statusCode, 200, 'it is counted again before it is refused');
    t.match(await now(), { status: 'running', status_reason: null });
  },
);

t.test('what is outside the volume is bounded by the tier, whatever the quota of the volume', async (t) => {
  const { runtime, call, url, volume, pass, now, patch, state } = await withContainer();
  volume.quota = 'hard';
  const write = (mb: number): void => {
    for (const { handle } of runtime.boxes.values()) runtime.layers.set(handle.runtimeId, mb * MIB);
  };
  t.same((await now()).layer, { limit_mb: 2048, used_mb: null }, 'it was not counted yet');
  write(2048);
  await pass();
  t.match(await now(), { status: 'running', layer: { limit_mb: 2048, used_mb: 2048 } }, 'all may be used');
  write(2049);
  const kept = await patch({ memory_mb: 512, carry_over: true });
  t.match(kept.json(), { code: 'validation_failed', fields: { carry_over: /2049 MB .* of 2048/ } });
  await pass();
  t.match(await now(), { status: 'stopped', status_reason: /outside \/workspace: 2049 of 2048 MB/ });
  t.match(state.audit.at(-1), { userId: null, action: 'container_stopped', userAgent: 'berth' });
  t.match(state.events.at(-1), { type: 'container_stopped' });
  t.equal((await call('POST', `${url}/start`)).statusCode, 200, 'so that something can be removed');
  await pass();
  t.match(await now(), { status: 'stopped' });
  t.equal((await patch({ memory_mb: 512 })).statusCode, 200, 'or it is made anew');
  await pass();
  t.match(await now(), { status: 'running', status_reason: null });
});

t.test('a hard quota needs neither', async (t) => {
  const { call, url, pass, now, volume } = await withContainer();
  volume.quota = 'hard';
  await pass(1500);
  t.match(await now(), { status: 'running' });
  await call('POST', `${url}/stop`);
  t.equal((await call('POST', `${url}/start`)).statusCode, 200);
});

t.test('one container is looked at once a minute, and none while the engine is silent', async (t) => {
  const { service, runtime, pass, now, volume } = await withContainer();
  await pass(100);
  volume.usedBytes = 200 * MIB;
  await service.measureDisks();
  t.equal((await now()).volume.used_mb, 100);
  const { ping } = runtime;
  runtime.ping = async () => {
    throw new RuntimeUnavailable('silent');
  };
  await pass(300);
  t.equal((await now()).volume.used_mb, 100);
  runtime.ping = ping;
  await pass();
  t.equal((await now()).volume.used_mb, 300);
});

t.test('one that is busy is left alone', async (t) => {
  const { runtime, call, url, pass, now } = await withContainer();
  const { stop } = runtime;
  const calls: string[] = [];
  let go = (): void => {};
  const held = new Promise<void>((resolve) => (go = resolve));
  runtime.stop = async (handle, grace) => {
    calls.push(handle.runtimeId);
    await held;
    return await stop(handle, grace);
  };
  const stopping = call('POST', `${url}/stop`);
  while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await pass(5000);
  t.equal(calls.length, 1);
  go();
  t.equal((await stopping).statusCode, 200);
  t.match(await now(), { status: 'stopped', status_reason: null });
});

t.test('a size below what is held is refused by name, and changes nothing', async (t) => {
  const { patch, pass, now, volume } = await withContainer();
  await pass(700);
  const refused = await patch({ disk_mb: 600 });
  t.same([refused.statusCode, Object.keys(refused.json().fields)], [400, ['disk_mb']]);
  t.match(refused.json().fields.disk_mb, /at least 700/);
  t.match(await now(), { status: 'running', resources: { disk_mb: 1000 } });
  t.equal((await patch({ disk_mb: 800 })).statusCode, 200);
  volume.usedBytes = 850 * MIB;
  await pass();
  t.match((await patch({ memory_mb: 512, disk_mb: 800 })).json().fields, { disk_mb: /at least 850/ });
  t.equal((await patch({ disk_mb: 900 })).statusCode, 200, 'more disk is the way out');
  volume.isResizable = false;
  t.match((await patch({ disk_mb: 950 })).json().fields, { disk_mb: /cannot change/ });
  t.equal((await patch({ memory_mb: 512, disk_mb: 900 })).statusCode, 200);
});

t.test('nothing new is made on a host that is short of room; what is there still starts', async (t) => {
  const { runtime, call, url, patch } = await withContainer({ diskFloorMb: 2048 });
  await call('POST', `${url}/stop`);
  runtime.host.spaces = [{ freeBytes: 2047 * MIB, totalBytes: 100_000 * MIB, isPool: false }];
  const refusals = {
    create: await call('POST', '/api/containers', { name: 'other', ...small }),
    update: await patch({ memory_mb: 512 }),
  };
  t.equal((await patch({ name: 'renamed' })).statusCode, 200);
  t.equal((await call('POST', `${url}/start`)).statusCode, 200);
  runtime.boxes.clear();
  await call('POST', `${url}/stop`);
  const anew = await call('POST', `${url}/start`);
  await call('DELETE', url);
  const restored = await call('POST', `${url}/restore`);
  for (const [name, answer] of Object.entries({ ...refusals, anew, restored })) {
    t.same([answer.statusCode, answer.json().code], [503, 'host_disk_short'], name);
  }
  t.equal(runtime.boxes.size, 0);
  runtime.host.spaces = [{ freeBytes: 2048 * MIB, totalBytes: 100_000 * MIB, isPool: false }];
  t.equal((await call('POST', `${url}/restore`)).statusCode, 200);
});
