import t from 'tap';
import { memoryRuntime } from '../../src/adapters/memory/index.ts';
import type { MemoryState } from '../../src/adapters/memory/state.ts';
import { aPerson, aService, as } from '../support/service.ts';

const MIB = 1_048_576;
const GIB = 1024 * MIB;
const small = { memory_mb: 256, cpu_shares: 100, disk_mb: 1000 };

/** Two people's containers on an engine of 20 GiB. `write` makes one hold so much; `free` sets what is left. */
async function aScene() {
  const runtime = memoryRuntime();
  const service = await aService({ runtime });
  const { state } = service.ports.storage as unknown as { state: MemoryState };
  const person = async (name: string) => {
    const call = as(service, await aPerson(service, name));
    const { db_id, id, volume } = (await call('POST', '/api/containers', { name: 'dev', ...small })).json();
    const now = async () => (await call('GET', `/api/containers/${db_id}`)).json();
    return {
      now,
      start: async () => (await call('POST', `/api/containers/${db_id}/start`)).json(),
      write: (mb: number) => runtime.layers.set(id, mb * MIB),
      writeFiles: (mb: number) => {
        const held = runtime.volumes.get(volume.name);
        if (held !== undefined) Object.assign(held, { quota: 'hard', usedBytes: mb * MIB });
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
  return { runtime, service, state, ada, eve, free };
}

t.test('a fast writer above its allowance is stopped before the minute is over', async (t) => {
  const { service, ada, eve, free, runtime } = await aScene();
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

t.test('one above its allowance gives its layer back when there is no room left', async (t) => {
  const { service, ada, eve, free, runtime } = await aScene();
  ada.write(9_000);
  free(900);
  await service.watchSpace();
  t.match(await ada.now(), { status: 'stopped', status_reason: /9000 of 2048 MB.* was removed/ });
  t.match(await eve.now(), { status: 'running' });
  t.equal(runtime.boxes.size, 1);
  free(10_000);
  t.match(await ada.start(), { recreated: true, volume_kept: true });
});

t.test(
  'of those within their allowance the one that grew most is stopped, not the one that has most',
  async (t) => {
    const { service, ada, eve, free } = await aScene();
    eve.write(2000);
    service.clock.advance(60_000);
    await service.measureDisks();
    free(1_100);
    await service.watchSpace();
    ada.write(1_000);
    eve.write(2_010);
    free(900);
    await service.watchSpace();
    t.match(await ada.now(), { status: 'stopped', status_reason: /just written 1000 MB/ });
    t.match(await eve.now(), { status: 'running' });
    await service.watchSpace();
    t.match(await eve.now(), { status: 'running' }, 'nor is anybody else while nothing more is written');
  },
);

t.test('files of volumes count where they fill the host', async (t) => {
  const { service, ada, eve, free } = await aScene();
  ada.writeFiles(0);
  eve.writeFiles(900);
  service.clock.advance(60_000);
  await service.measureDisks();
  ada.writeFiles(800);
  free(10_000, 2_500);
  await service.watchSpace();
  t.match(await ada.now(), { status: 'stopped', status_reason: /just written 800 MB/ });
  t.match(await eve.now(), { status: 'running' });
});

t.test('who wrote nothing is not stopped, and an engine that is not known is left alone', async (t) => {
  const { service, runtime, ada, eve, free } = await aScene();
  free(100, 100);
  await service.watchSpace();
  runtime.host.spaces = [];
  await service.watchSpace();
  for (const each of [ada, eve]) t.match(await each.now(), { status: 'running' });
});
