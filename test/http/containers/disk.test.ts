import { setImmediate } from 'node:timers/promises';
import pino from 'pino';
import t from 'tap';
import { memoryHost, memoryKernelShares, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { RuntimeUnavailable } from '../../../src/ports/containers/container-runtime.ts';
import { engineHostContract } from '../../contract/containers/capacity/engine-host.ts';
import { kernelSharesContract } from '../../contract/containers/kernel-shares.ts';
import { aSpec } from '../../support/engine/container.ts';
import { aPerson, aService, as, auditOf, outcome, stateOf } from '../../support/service/service.ts';

const MIB = 1_048_576;
const GIB = 1024 * MIB;
const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 1000 };

/** A new container; `now` reads it. */
async function aBox(call: ReturnType<typeof as>) {
  const box = (await call('POST', '/api/containers', { name: 'dev', ...small })).json();
  const url = `/api/containers/${box.db_id}`;
  return { ...box, url, now: async () => (await call('GET', url)).json() };
}

async function withContainer(options: Parameters<typeof aService>[1] = {}) {
  const runtime = memoryRuntime();
  const service = await aService({ runtime }, options);
  const call = as(service, await aPerson(service, 'ada'));
  const { now, url, ...box } = await aBox(call);
  const volume = runtime.volumes.get(box.volume.name);
  if (volume === undefined) throw new Error('no volume');
  const pass = async (usedMb?: number): Promise<void> => {
    if (usedMb !== undefined) volume.usedBytes = usedMb * MIB;
    service.clock.advance(60_000);
    await service.measureDisks();
  };
  const patch = (over: object) => call('PATCH', url, { name: 'dev', ...small, ...over });
  const state = stateOf(service);
  return { runtime, service, call, box, url, volume, pass, now, patch, state };
}

t.test('a volume is measured once a minute, and shown with its method', async (t) => {
  const { service, runtime, box, volume, pass, now } = await withContainer();
  t.same(box.volume, { name: box.volume.name, size_mb: 1000, used_mb: null, quota: 'soft' });
  await pass(300);
  t.match((await now()).volume, { used_mb: 300, quota: 'soft' });
  volume.usedBytes = 400 * MIB;
  await service.measureDisks();
  t.equal((await now()).volume.used_mb, 300, 'not again within the minute');
  const { ping } = runtime;
  runtime.ping = () => Promise.reject(new RuntimeUnavailable('silent'));
  await pass(500);
  t.equal((await now()).volume.used_mb, 300, 'nor while the engine is silent');
  runtime.ping = ping;
  await pass();
  t.equal((await now()).volume.used_mb, 500);
  volume.quota = 'hard';
  volume.usedBytes = null;
  await pass();
  t.match((await now()).volume, { used_mb: 500, quota: 'hard' }, 'what cannot be counted stays as it was');
});

t.test('with a soft quota a container stops above 110 %, and does not start above 100 %', async (t) => {
  const { call, url, pass, now, state, volume, runtime } = await withContainer();
  await pass(1100);
  t.match(await now(), { status: 'running', status_reason: null, volume: { used_mb: 1100 } });
  await pass(1101);
  t.match(await now(), { status: 'stopped', status_reason: /1101 of 1000 MB .* more than 110 %/ });
  t.match([...runtime.boxes.values()], [{ startedAt: null }]);
  t.match(state.events.at(-1), { type: 'container_stopped', data: { status: 'stopped' } });
  t.equal(state.events.filter(({ type }) => type === 'container_stopped').length, 1);
  t.match(state.audit.at(-1), { userId: null, action: 'container_stopped', userAgent: 'berth' });
  await pass();
  t.equal(state.events.filter(({ type }) => type === 'container_stopped').length, 1, 'and once only');

  t.same(outcome(await call('POST', `${url}/start`)), [409, 'disk_quota_exceeded']);
  volume.usedBytes = 1000 * MIB;
  t.equal((await call('POST', `${url}/start`)).statusCode, 200, 'it is counted again before it is refused');
  t.match(await now(), { status: 'running', status_reason: null });
});

t.test('use outside the volume is limited by the tier, and needs no stop with a hard quota', async (t) => {
  const { runtime, call, url, volume, pass, now, patch, state } = await withContainer();
  volume.quota = 'hard';
  const write = (mb: number): void => {
    for (const { handle } of runtime.boxes.values()) runtime.layers.set(handle.runtimeId, mb * MIB);
  };
  t.same((await now()).layer, { limit_mb: 2048, used_mb: null }, 'it was not counted yet');
  write(2048);
  await pass(1500);
  t.match(await now(), { status: 'running', layer: { limit_mb: 2048, used_mb: 2048 } }, 'all may be used');
  write(2049);
  const kept = await patch({ memory_mb: 512, carry_over: true });
  t.match(kept.json(), { code: 'validation_failed', fields: { carry_over: /2049 MB .* limit is 2048/ } });
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

t.test('a busy container is not stopped for its disk', async (t) => {
  const { runtime, call, url, pass, now } = await withContainer();
  const { stop } = runtime;
  let calls = 0;
  const { promise: blocked, resolve: go } = Promise.withResolvers<void>();
  runtime.stop = async (handle, grace) => {
    calls += 1;
    await blocked;
    return await stop(handle, grace);
  };
  const stopping = call('POST', `${url}/stop`);
  while (calls === 0) await setImmediate();
  await pass(5000);
  t.equal(calls, 1);
  go();
  t.equal((await stopping).statusCode, 200);
  t.match(await now(), { status: 'stopped', status_reason: null });
});

t.test('a stop for the disk that its process does not see end keeps its reason', async (t) => {
  const { runtime, service, pass, now, state, volume } = await withContainer();
  const { stop } = runtime;
  const begun = Promise.withResolvers<void>();
  const cut = Promise.withResolvers<never>();
  runtime.stop = async (...asked) => {
    await stop(...asked);
    begun.resolve();
    return await cut.promise;
  };
  volume.usedBytes = 5_000 * MIB;
  const passing = pass();
  await begun.promise;
  t.match(await now(), { status: 'stopping' });
  await service.reconcile();
  t.match(await now(), { status: 'stopped', status_reason: /5000 of 1000 MB/ });
  t.match(state.audit.at(-1), { userId: null, action: 'container_stopped', userAgent: 'berth' });
  cut.reject(new RuntimeUnavailable('cut off'));
  await passing;
});

t.test('a container stopped during its measurement is not stopped again', async (t) => {
  const { runtime, call, url, pass, now } = await withContainer();
  const { stop, layerUse } = runtime;
  let stops = 0;
  runtime.stop = async (...asked) => {
    stops += 1;
    return await stop(...asked);
  };
  runtime.layerUse = async (...asked) => {
    runtime.layerUse = layerUse;
    await call('POST', `${url}/stop`);
    return await layerUse(...asked);
  };
  await pass(5000);
  t.match(await now(), { status: 'stopped', status_reason: null });
  t.equal(stops, 1);
});

t.test('a size below the present use is refused by field, and changes nothing', async (t) => {
  const { patch, pass, now, volume } = await withContainer();
  await pass(700);
  const refused = await patch({ disk_mb: 600 });
  t.same([refused.statusCode, Object.keys(refused.json().fields)], [400, ['disk_mb']]);
  t.match(refused.json().fields.disk_mb, /at least 700/);
  t.match(await now(), { status: 'running', resources: { disk_mb: 1000 } });
  t.equal((await patch({ disk_mb: 700 })).statusCode, 200, 'the size itself is enough');
  volume.usedBytes = 850 * MIB;
  await pass();
  t.match((await patch({ memory_mb: 512, disk_mb: 800 })).json().fields, { disk_mb: /at least 850/ });
  t.equal((await patch({ disk_mb: 900 })).statusCode, 200, 'more disk is the way out');
  volume.isResizable = false;
  t.match((await patch({ disk_mb: 950 })).json().fields, { disk_mb: /cannot change/ });
  t.equal((await patch({ memory_mb: 512, disk_mb: 900 })).statusCode, 200);
  Object.assign(volume, { isResizable: true, usedBytes: 0, minMb: 900 });
  t.match((await patch({ disk_mb: 899 })).json().fields, {
    disk_mb: /at least 900: the engine cannot shrink/,
  });
});

t.test('on a host short of space nothing new is made, but existing containers start', async (t) => {
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

t.test('a container that cannot be measured several times in a row is logged once', async (t) => {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const { runtime, pass } = await withContainer({ logger });
  const { usedBytes } = runtime;
  runtime.usedBytes = async () => null;
  const warnings = () => lines.filter((line) => line.includes('its size is not enforced')).length;
  for (let times = 0; times < 2; times += 1) await pass();
  t.equal(warnings(), 0);
  for (let times = 0; times < 3; times += 1) await pass();
  t.equal(warnings(), 1);
  runtime.usedBytes = usedBytes;
  await pass();
  runtime.usedBytes = async () => null;
  for (let times = 0; times < 3; times += 1) await pass();
  t.equal(warnings(), 2, 'again after it was measured');
});

/** Two users' containers on an engine of 20 GiB. `write` sets a container's use; `free` sets the free space. */
async function onOneEngine() {
  const runtime = memoryRuntime();
  const service = await aService({ runtime });
  const person = async (name: string) => {
    const call = as(service, await aPerson(service, name));
    const { id, url, volume, now } = await aBox(call);
    return {
      now,
      start: async () => (await call('POST', `${url}/start`)).json(),
      write: (mb: number) => runtime.layers.set(id, mb * MIB),
      writeFiles: (mb: number) => {
        const stored = runtime.volumes.get(volume.name);
        if (stored !== undefined) Object.assign(stored, { quota: 'hard', usedBytes: mb * MIB });
      },
    };
  };
  const free = (poolMb: number, hostMb = 100_000): void => {
    runtime.host.spaces = [
      { freeBytes: hostMb * MIB, totalBytes: 200 * GIB, isPool: false },
      { freeBytes: poolMb * MIB, totalBytes: 20 * GIB, isPool: true },
    ];
  };
  free(10_000);
  const [ada, eve] = [await person('ada'), await person('eve')];
  await service.watchSpace();
  return { runtime, service, ada, eve, free };
}

t.test('a fast writer above its allowance is stopped before the minute ends', async (t) => {
  const { service, ada, eve, free, runtime } = await onOneEngine();
  ada.write(2500);
  eve.write(2000);
  free(9_500);
  await service.watchSpace();
  t.match(await ada.now(), { status: 'running' }, 'little has changed');
  free(8_900);
  await service.watchSpace();
  t.match(await ada.now(), { status: 'stopped', status_reason: /2500 of 2048 MB/ });
  t.match(await eve.now(), { status: 'running' });
  t.equal(runtime.boxes.size, 2, 'there is room, so nothing is removed');
});

t.test('each file system is compared with itself alone', async (t) => {
  const { service, ada, runtime } = await onOneEngine();
  const free = (dataMb: number, engineMb: number): void => {
    runtime.host.spaces = [
      { freeBytes: dataMb * MIB, totalBytes: 200 * GIB, isPool: false },
      { freeBytes: engineMb * MIB, totalBytes: 100 * GIB, isPool: false },
    ];
  };
  free(100_000, 50_000);
  await service.watchSpace();
  ada.write(2500);
  await service.watchSpace();
  t.match(await ada.now(), { status: 'running' }, 'nothing has changed on either');
  free(100_000, 48_000);
  await service.watchSpace();
  t.match(await ada.now(), { status: 'stopped', status_reason: /2500 of 2048 MB/ });
});

t.test('another file system that can be read now is not compared', async (t) => {
  const { service, ada, runtime } = await onOneEngine();
  const readable = (path: string, freeMb: number): void => {
    runtime.host.spaces = [{ path, freeBytes: freeMb * MIB, totalBytes: 200 * GIB, isPool: false }];
  };
  readable('/data', 100_000);
  await service.watchSpace();
  ada.write(2500);
  readable('/engine', 50_000);
  await service.watchSpace();
  t.match(await ada.now(), { status: 'running' });
  readable('/engine', 48_000);
  await service.watchSpace();
  t.match(await ada.now(), { status: 'stopped' });
});

t.test('a container above its allowance loses its layer when space runs out', async (t) => {
  const { service, ada, eve, free, runtime } = await onOneEngine();
  ada.write(9_000);
  free(900);
  await service.watchSpace();
  t.match(await ada.now(), { status: 'stopped', status_reason: /9000 of 2048 MB.* was removed/ });
  t.match(await eve.now(), { status: 'running' });
  t.equal(runtime.boxes.size, 1);
  free(10_000);
  t.match(await ada.start(), { recreated: true, volume_kept: true });
});

t.test('of those within their allowance the one that grew most is stopped, not the largest', async (t) => {
  const { service, ada, eve, free } = await onOneEngine();
  eve.write(2000);
  service.clock.advance(60_000);
  await service.measureDisks();
  free(1_100);
  await service.watchSpace();
  ada.write(1_000);
  eve.write(2_010);
  free(900);
  await service.watchSpace();
  t.match(await ada.now(), { status: 'stopped', status_reason: /just written the most: 1000 MB/ });
  t.match(await eve.now(), { status: 'running' });
  await service.watchSpace();
  t.match(await eve.now(), { status: 'running' }, 'nor is anybody else while nothing more is written');
});

t.test('volume files count where they fill the host', async (t) => {
  const { service, ada, eve, free } = await onOneEngine();
  ada.writeFiles(0);
  eve.writeFiles(900);
  service.clock.advance(60_000);
  await service.measureDisks();
  ada.writeFiles(800);
  free(10_000, 2_500);
  await service.watchSpace();
  t.match(await ada.now(), { status: 'stopped', status_reason: /just written the most: 800 MB/ });
  t.match(await eve.now(), { status: 'running' });
});

t.test('a container that wrote nothing is not stopped, and an unknown engine is left alone', async (t) => {
  const { service, runtime, ada, eve, free } = await onOneEngine();
  free(100, 100);
  await service.watchSpace();
  runtime.host.spaces = [];
  await service.watchSpace();
  for (const each of [ada, eve]) t.match(await each.now(), { status: 'running' });
});

t.test('the watcher of shared counters has limits', async (t) => {
  const runtime = memoryRuntime();
  const handle = await runtime.create(aSpec('any'));
  await runtime.start(handle);
  const { runtimeId } = handle;
  const stop = () => runtime.stop(handle, 0);
  await engineHostContract(t, { host: memoryHost(runtime), runtimeId });
  await kernelSharesContract(t, { shares: memoryKernelShares(runtime), runtimeId, stop });
});

t.test('a container that exhausts a counter is stopped, and that is recorded once', async (t) => {
  const runtime = memoryRuntime();
  const kernelShares = memoryKernelShares(runtime);
  const service = await aService({ runtime, kernelShares });
  const mallory = await aPerson(service, 'mallory');
  const theirs = await aBox(as(service, mallory));
  const hers = await aBox(as(service, await aPerson(service, 'ada')));
  const stray = await runtime.create(aSpec('stray'));
  await runtime.start(stray);
  kernelShares.taken.set(stray.runtimeId, { inotifyInstances: 500 });
  await service.watchKernelShares();
  t.equal((await runtime.observe(stray)).kind, 'running', 'what is in no row is not stopped');
  kernelShares.taken.delete(stray.runtimeId);
  kernelShares.taken.set(theirs.id, { inotifyInstances: 400 });
  kernelShares.taken.set(hers.id, { inotifyInstances: 100 });
  await service.watchKernelShares();
  t.match(await theirs.now(), { status: 'running' }, 'enough is left');

  kernelShares.taken.set(theirs.id, { inotifyInstances: 401 });
  await service.watchKernelShares();
  t.match(await theirs.now(), {
    status: 'stopped',
    status_reason: /^it used 401 of 1000 inotify instances that all containers share/,
  });
  t.match(await hers.now(), { status: 'running' });
  await service.watchKernelShares();
  const agents = auditOf(service, 'container_over_share').map(({ userAgent }) => userAgent);
  t.same(agents, ['berth'], 'recorded once');
});
