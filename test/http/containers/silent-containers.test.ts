import { setImmediate as turn } from 'node:timers/promises';
import t from 'tap';
import { memoryAccess, memoryRuntime } from '../../../src/adapters/memory/index.ts';
import { anAdmin, aPerson, aService, as, small } from '../../support/service/service.ts';
import { standingTime } from '../../support/time.ts';

/** More than a pass measures at a time. */
const SILENT = 9;
const MOST_SECONDS = 120;

/** Eve's containers, whose shells never answer, and then Ada's. */
async function aSilentScene(adas: object) {
  const runtime = memoryRuntime();
  const silent = new Set<string>();
  const volumes = new Set<string>();
  const { promise: never, reject } = Promise.withResolvers<never>();
  never.catch(() => {});
  const { usedBytes } = runtime;
  runtime.usedBytes = (volume, reader) => (volumes.has(volume) ? never : usedBytes(volume, reader));
  const figures = { at: new Date(), cpuMillicores: 0, memoryBytes: 1, pids: 1, memoryKills: 0 };
  const load = ({ runtimeId }: { readonly runtimeId: string }) =>
    silent.has(runtimeId) ? never : Promise.resolve(figures);
  const service = await aService({ runtime, insight: { ...memoryAccess(runtime).insight, load } });
  const root = as(service, await anAdmin(service));
  await root('PATCH', '/api/admin/tiers/free', { max_containers: SILENT });
  const eve = as(service, await aPerson(service, 'eve'));
  const made = Array.from({ length: SILENT }, (_, at) =>
    eve('POST', '/api/containers', { name: `dev-${at}`, ...small, idle_seconds: 60 }),
  );
  const ofEve = (await Promise.all(made)).map((answer) => answer.json());
  const ada = as(service, await aPerson(service, 'ada'));
  const box = (await ada('POST', '/api/containers', { name: 'dev', ...small, ...adas })).json();
  for (const { id, volume } of ofEve) {
    silent.add(id);
    volumes.add(volume.name);
  }
  const endShells = (): void => reject(new Error('the shells have ended'));
  return { service, runtime, eve, ada, box, ofEve, endShells };
}

const MIB = 1_048_576;

/** Sets the free space of the engine's file system. */
function freeOf({ runtime }: Pick<Awaited<ReturnType<typeof aSilentScene>>, 'runtime'>) {
  return (freeMb: number): void => {
    runtime.host.spaces = [{ freeBytes: freeMb * MIB, totalBytes: 20 * 1024 * MIB, isPool: true }];
  };
}

/** Whether the pass ends in time. */
async function endsInTime(
  time: ReturnType<typeof standingTime>,
  pass: () => Promise<void>,
  mostSeconds = MOST_SECONDS,
): Promise<boolean> {
  let hasEnded = false;
  void pass().then(() => {
    hasEnded = true;
  });
  for (let left = mostSeconds; left > 0 && !hasEnded; left -= 1) {
    await turn();
    time.pass(1_000);
    await turn();
  }
  return hasEnded;
}

t.test('containers that never answer delay the end of no other', async (t) => {
  const { service, ada, box } = await aSilentScene({ ttl_seconds: 600 });
  const time = standingTime(t);
  for (const seconds of [300, 300, 60]) {
    service.clock.advance(seconds * 1_000);
    t.ok(await endsInTime(time, service.endContainers));
  }
  t.match((await ada('GET', `/api/containers/${box.db_id}`)).json(), { status: 'stopped' });
});

t.test('containers that never answer delay the figures of no other', async (t) => {
  const { service, eve, ada, box, ofEve } = await aSilentScene({});
  const figuresOf = (call: typeof ada, ids: readonly string[]) =>
    call('GET', `/api/figures?ids=${ids.join(',')}`);
  const time = standingTime(t);
  await figuresOf(
    eve,
    ofEve.map(({ db_id }) => db_id),
  );
  await figuresOf(ada, [box.db_id]);
  t.ok(await endsInTime(time, service.sampleFigures));
  t.match((await figuresOf(ada, [box.db_id])).json(), { figures: [{ cpu_millicores: 0, memory_bytes: 1 }] });
});

t.test('containers that never answer delay the disk measurement of no other', async (t) => {
  const { service, runtime, ada, box } = await aSilentScene({});
  runtime.usedBytes = (
    (usedBytes) => async (volume, reader) =>
      volume === box.volume.name ? 5 * MIB : await usedBytes(volume, reader)
  )(runtime.usedBytes);
  t.ok(await endsInTime(standingTime(t), service.measureDisks));
  t.match((await ada('GET', `/api/containers/${box.db_id}`)).json(), { volume: { used_mb: 5 } });
});

t.test('containers that never answer do not delay the search for a fast writer', async (t) => {
  const scene = await aSilentScene({});
  const { service, runtime, ada, box } = scene;
  const free = freeOf(scene);
  free(10_000);
  await service.watchSpace();
  runtime.layers.set(box.id, 2_500 * MIB);
  free(8_900);
  t.ok(await endsInTime(standingTime(t), service.watchSpace, 30));
  t.match((await ada('GET', `/api/containers/${box.db_id}`)).json(), { status: 'stopped' });
});

t.test(
  'a full disk stops the container that filled it, although its own files are never counted',
  async (t) => {
    for (const [writtenMb, reason] of [
      [2_500, /2500 of 2048 MB/],
      [1_800, /just written the most: 1800 MB/],
    ] as const) {
      const scene = await aSilentScene({});
      const { service, runtime, eve, ada, box, ofEve } = scene;
      const free = freeOf(scene);
      free(10_000);
      await service.watchSpace();
      runtime.layers.set(ofEve[0].id, writtenMb * MIB);
      runtime.layers.set(box.id, 1_500 * MIB);
      free(900);
      await t.test(`${writtenMb} MB`, async (t) => {
        t.ok(await endsInTime(standingTime(t), service.watchSpace, 30));
      });
      t.match((await eve('GET', `/api/containers/${ofEve[0].db_id}`)).json(), {
        status: 'stopped',
        status_reason: reason,
      });
      t.match((await ada('GET', `/api/containers/${box.db_id}`)).json(), { status: 'running' });
    }
  },
);

t.test('a layer that is measured after the search has ended is still judged, and not recorded', async (t) => {
  const scene = await aSilentScene({});
  const { service, runtime, ada, box } = scene;
  const free = freeOf(scene);
  const { layerUse } = runtime;
  const slow = Promise.withResolvers<void>();
  runtime.layerUse = async (handle, image) => {
    if (handle.runtimeId === box.id) await slow.promise;
    return await layerUse(handle, image);
  };
  const now = async () => (await ada('GET', `/api/containers/${box.db_id}`)).json();
  free(10_000);
  await service.watchSpace();
  runtime.layers.set(box.id, 2_500 * MIB);
  free(8_900);
  t.ok(await endsInTime(standingTime(t), service.watchSpace, 30));
  t.match(await now(), { status: 'running' });
  slow.resolve();
  await service.watchSpace.idle?.();
  t.match(await now(), { status: 'stopped', status_reason: /2500 of 2048 MB/, layer: { used_mb: null } });
});

for (const during of [true, false]) {
  const ends = during ? 'during' : 'after';
  t.test(`a slow count that ends ${ends} a search undoes no result of either`, async (t) => {
    const scene = await aSilentScene({});
    const { service, runtime, ada, box, endShells } = scene;
    const free = freeOf(scene);
    endShells();
    const slow = Promise.withResolvers<number>();
    const searched = Promise.withResolvers<never>();
    const { usedBytes } = runtime;
    let counts = 0;
    runtime.usedBytes = async (volume, reader) => {
      if (volume !== box.volume.name) return await usedBytes(volume, reader);
      counts += 1;
      if (counts === 2 && during) slow.resolve(5 * MIB);
      return await (counts === 1 ? slow.promise : searched.promise);
    };
    free(10_000);
    await service.watchSpace();
    runtime.layers.set(box.id, 100 * MIB);
    const time = standingTime(t);
    t.ok(await endsInTime(time, service.measureDisks));
    runtime.layers.set(box.id, 2_000 * MIB);
    free(8_900);
    t.ok(await endsInTime(time, service.watchSpace, 30));
    slow.resolve(5 * MIB);
    await service.measureDisks.idle?.();
    t.match((await ada('GET', `/api/containers/${box.db_id}`)).json(), {
      volume: { used_mb: 5 },
      layer: { used_mb: 2_000 },
    });
  });
}

t.test('a snapshot waits only so long for a container that never answers', async (t) => {
  const { eve, ofEve } = await aSilentScene({});
  const statuses: number[] = [];
  const take = async (): Promise<void> => {
    const answer = await eve('POST', `/api/containers/${ofEve[0].db_id}/snapshots`, { name: 'kept' });
    statuses.push(answer.statusCode);
  };
  t.ok(await endsInTime(standingTime(t), take, 30));
  t.same(statuses, [201]);
});

t.test('only so many volumes are counted in the background at once', async (t) => {
  const { service, runtime, ofEve, endShells } = await aSilentScene({});
  const names = new Set(ofEve.map(({ volume }) => volume.name));
  const limits: (number | undefined)[] = [];
  const { usedBytes } = runtime;
  runtime.usedBytes = async (volume, reader) => {
    if (names.has(volume)) limits.push(reader.withinSeconds);
    return await usedBytes(volume, reader);
  };
  const time = standingTime(t);
  const pass = async () => {
    service.clock.advance(60_000);
    t.ok(await endsInTime(time, service.measureDisks));
    const asked = limits.splice(0);
    return { asked: asked.length, soonGivenUp: asked.filter((limit) => limit === 10).length };
  };
  t.same(await pass(), { asked: SILENT, soonGivenUp: 1 });
  t.same(await pass(), { asked: 1, soonGivenUp: 1 }, 'the others are still being counted');
  endShells();
  await service.measureDisks.idle?.();
  t.same(await pass(), { asked: SILENT, soonGivenUp: 0 }, 'a count that has ended makes room');
});

t.test('a layer above its limit is judged before the files in the workspace are counted', async (t) => {
  const { service, runtime, eve, ofEve } = await aSilentScene({});
  runtime.layers.set(ofEve[0].id, 2_500 * MIB);
  t.ok(await endsInTime(standingTime(t), service.measureDisks));
  t.match((await eve('GET', `/api/containers/${ofEve[0].db_id}`)).json(), {
    status: 'stopped',
    status_reason: /2500 of 2048 MB/,
    layer: { used_mb: 2_500 },
  });
});

t.test('a pass is idle once the shells that it has left behind have ended', async (t) => {
  const { service, eve, ofEve, endShells } = await aSilentScene({});
  await eve('GET', `/api/figures?ids=${ofEve.map(({ db_id }) => db_id).join(',')}`);
  const passes = [service.measureDisks, service.sampleFigures, service.endContainers];
  const busy = new Set(passes);
  const time = standingTime(t);
  service.clock.advance(60_000);
  for (const pass of passes) {
    await endsInTime(time, pass);
    void pass.idle?.().then(() => busy.delete(pass));
  }
  await turn();
  t.equal(busy.size, passes.length);
  endShells();
  await Promise.all(passes.map(({ idle }) => idle?.()));
  t.equal(busy.size, 0);
});
