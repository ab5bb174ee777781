import t from 'tap';
import { memoryHost, memoryRuntime } from '../../../../src/adapters/memory/index.ts';
import { FILE_SYSTEM_MB } from '../../../../src/domain/containers/snapshots/snapshot.ts';
import { RuntimeUnavailable } from '../../../../src/ports/containers/container-runtime.ts';
import { anAdmin, aPerson, aService, as } from '../../../support/service/service.ts';
import { valuesOf } from '../../../support/values.ts';

const MIB = 1_048_576;
const GIB = 1024 * MIB;
const CAPACITY = '/api/admin/capacity';
const USAGE = '/api/admin/usage';
const SIZE = { memory_mb: 1024, cpu_shares: 500, disk_mb: 2048 };

/** An administrator, and Ada with containers; `usage` is what the administrator sees of a user. */
async function aScene() {
  const runtime = memoryRuntime();
  const host = memoryHost(runtime);
  runtime.host.spaces = [{ freeBytes: 60 * GIB, totalBytes: 100 * GIB, isPool: false }];
  const service = await aService({ runtime, host });
  const root = await anAdmin(service);
  const ada = await aPerson(service, 'ada');
  const call = as(service, root);
  const hers = as(service, ada);
  const made = async (name: string) => (await hers('POST', '/api/containers', { name, ...SIZE })).json();
  const usage = async (username: string) =>
    (await call('GET', `${USAGE}?username=${username}`)).json().usage[0];
  const node = async () => (await call('GET', CAPACITY)).json().nodes[0];
  return { service, runtime, host, root, call, hers, made, usage, node };
}

t.test('the machine, what is promised of it, and what is used', async (t) => {
  const { made, node, host, hers, call } = await aScene();
  const [dev, other] = [await made('dev'), await made('other')];
  host.taken.set(dev.id, { cpuMillicores: 250, memoryBytes: 100 * MIB });
  host.taken.set(other.id, { cpuMillicores: 50, memoryBytes: 28 * MIB });
  t.same(await node(), {
    name: 'memory',
    reachable: true,
    cpu: {
      total_millicores: 8000,
      used_millicores: 1000,
      containers_millicores: 300,
      promised_millicores: 1000,
      promised_all_millicores: 1000,
      overcommit: 0.13,
    },
    memory: {
      total_mb: 16_384,
      used_mb: 4096,
      containers_mb: 128,
      promised_mb: 2048,
      promised_all_mb: 2048,
      overcommit: 0.13,
    },
    disk: { promised_mb: 4096, overcommit: 0.04 },
    disks: [
      { kind: 'host', total_mb: 102_400, used_mb: 40_960, free_mb: 61_440, reserve_mb: 5120, short: false },
    ],
    containers: { creating: 0, starting: 0, running: 2, stopping: 0, stopped: 0, updating: 0, failed: 0 },
    images: { count: 1, size_mb: 200 },
    warnings: [],
  });
  await hers('POST', `/api/containers/${other.db_id}/stop`);
  t.match(await node(), {
    memory: { promised_mb: 1024, promised_all_mb: 2048 },
    containers: { running: 1, stopped: 1 },
  });
  await hers('DELETE', `/api/containers/${other.db_id}`);
  t.match(await node(), {
    memory: { promised_all_mb: 1024 },
    disk: { promised_mb: 2048 },
    containers: { running: 1, stopped: 0 },
  });
  t.match((await call('GET', CAPACITY)).json().stored, {
    volumes: { count: 1 },
    deleted_containers: { count: 1 },
    warm_pool: { ready: 0, making: 0 },
  });
});

t.test('what an engine elsewhere does not say is null, and a silent one is a warning', async (t) => {
  const { node, host, runtime, service, made, usage } = await aScene();
  host.isVisible = false;
  t.match(await node(), { cpu: { containers_millicores: 0 } }, 'no container uses nothing');
  t.match(await usage('ada'), { memory_used_mb: 0 });
  await made('dev');
  service.clock.advance(5_001);
  host.machine = { ...host.machine, cpuUsedMillicores: null, memoryUsedBytes: null, images: null };
  runtime.host.spaces = [];
  t.match(await node(), {
    reachable: true,
    cpu: { total_millicores: 8000, used_millicores: null, containers_millicores: null },
    memory: { total_mb: 16_384, used_mb: null, containers_mb: null, overcommit: 0.06 },
    disk: { overcommit: null },
    disks: [],
    images: null,
  });
  t.match(await usage('ada'), { cpu_used_millicores: null, memory_used_mb: null, memory_mb: 1024 });
  const silent = async () => {
    throw new RuntimeUnavailable('silent');
  };
  Object.assign(host, { figures: silent, loads: silent });
  Object.assign(runtime, { hostSpace: silent });
  service.clock.advance(5_001);
  t.match(await node(), {
    reachable: false,
    cpu: { total_millicores: null, overcommit: null, promised_millicores: 500 },
    warnings: [{ code: 'engine_unreachable' }],
  });
});

t.test('requests at one time read the machine once', async (t) => {
  const { call, host } = await aScene();
  let reads = 0;
  const { figures } = host;
  Object.assign(host, {
    figures() {
      reads += 1;
      return figures.call(host);
    },
  });
  const answers = await Promise.all([CAPACITY, USAGE, CAPACITY, USAGE].map((url) => call('GET', url)));
  t.same(valuesOf(answers, 'statusCode'), [200, 200, 200, 200]);
  t.equal(reads, 1);
});

t.test("a user's sums follow a delete, a restore and a purge at once", async (t) => {
  const { service, runtime, host, hers, made, usage } = await aScene();
  const box = await made('dev');
  const url = `/api/containers/${box.db_id}`;
  const volume = runtime.volumes.get(box.volume.name);
  if (volume !== undefined) volume.usedBytes = 40 * MIB;
  runtime.layers.set(box.id, 10 * MIB);
  host.taken.set(box.id, { cpuMillicores: 250, memoryBytes: 100 * MIB });
  service.clock.advance(60_000);
  await service.measureDisks();
  t.match(await usage('ada'), {
    username: 'ada',
    email: 'ada@example.org',
    tier: 'free',
    max_containers: 5,
    containers: 1,
    running: 1,
    memory_mb: 1024,
    cpu_millicores: 500,
    disk_mb: 2048,
    memory_used_mb: 100,
    cpu_used_millicores: 250,
    disk_used_mb: 50,
    kept: 0,
    kept_mb: 0,
    snapshots: 0,
    recordings: 0,
    terminals: 0,
    tokens: 0,
  });
  const taken = await hers('POST', `${url}/snapshots`, { name: 'base' });
  t.match(await usage('ada'), { snapshots: 1, snapshot_mb: 50 + FILE_SYSTEM_MB });
  await hers('DELETE', url);
  const gone = { containers: 0, running: 0, memory_mb: 0, disk_mb: 0, disk_used_mb: 0 };
  t.match(await usage('ada'), { ...gone, kept: 1, kept_mb: 40 });
  await hers('POST', `${url}/restore`);
  const back = { containers: 1, running: 0, memory_mb: 1024, disk_mb: 2048, kept: 0, kept_mb: 0 };
  t.match(await usage('ada'), back);
  await hers('DELETE', `/api/snapshots/${taken.json().id}`);
  t.match(await usage('ada'), { snapshots: 0, snapshot_mb: 0, kept: 1 }, 'a deleted snapshot is kept');
  await hers('DELETE', url);
  await hers('POST', `${url}/purge`, { name: 'dev' });
  t.match(await usage('ada'), { ...gone, kept: 2 }, 'what is given up counts until it is removed');
  await service.collectVolumes();
  t.match(await usage('ada'), { ...gone, kept: 1 });
});

t.test('usage is sorted by number', async (t) => {
  const { service, call, made, hers, host } = await aScene();
  await aPerson(service, 'bob');
  await made('dev');
  const names = async (query: string) => {
    const answer = (await call('GET', `${USAGE}?${query}`)).json();
    return answer.usage.map(({ username }: { username: string }) => username);
  };
  t.same(await names('sort=-username'), ['root', 'bob', 'ada']);
  t.same((await names('sort=-memory_mb'))[0], 'ada');
  t.same((await names('sort=memory_mb')).at(-1), 'ada');
  const eve = await aPerson(service, 'eve');
  const boxes = [(await hers('GET', '/api/containers')).json().containers[0]];
  boxes.push((await as(service, eve)('POST', '/api/containers', { name: 'eve', ...SIZE })).json());
  for (const [index, { id }] of boxes.entries())
    host.taken.set(id, { cpuMillicores: [9, 100][index] ?? 0, memoryBytes: MIB });
  service.clock.advance(5_001);
  t.same((await names('sort=-cpu_used_millicores')).slice(0, 2), ['eve', 'ada'], '100 is more than 9');
});

t.test('the metrics have the last reading, and no number before', async (t) => {
  const gauges = new Map<string, () => number>();
  const runtime = memoryRuntime();
  runtime.host.spaces = [{ freeBytes: 60 * GIB, totalBytes: 100 * GIB, isPool: false }];
  const base = await aService();
  const metrics = {
    ...base.ports.metrics,
    watch: (name: string, read: () => number) => void gauges.set(name, read),
  };
  const service = await aService({ runtime, host: memoryHost(runtime), metrics });
  const value = (name: string) => gauges.get(name)?.();
  t.ok(Number.isNaN(value('host_cpu_cores')));
  await service.readCapacity();
  t.same(
    ['host_cpu_cores', 'host_cpu_used_cores', 'host_disk_free_bytes', 'promised_memory_bytes'].map(value),
    [8, 1, 60 * GIB, 0],
  );
});
