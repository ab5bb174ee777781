import t from 'tap';
import {
  fixedClock,
  memoryAccess,
  memoryBusHub,
  memoryRuntime,
  memoryStorage,
  memoryTerminals,
  memoryWarmPoolEngine,
} from '../../../src/adapters/memory/index.ts';
import { forgetEnded } from '../../../src/app/history-cleanup.ts';
import {
  RuntimeFailure,
  type RuntimeHandle,
  RuntimeUnavailable,
} from '../../../src/ports/containers/container-runtime.ts';
import { busContract } from '../../contract/bus.ts';
import { containerDiskContract } from '../../contract/containers/container-disk.ts';
import {
  containerRuntimeContract,
  pausedContainerContract,
} from '../../contract/containers/container-runtime.ts';
import { containerSnapshotsContract } from '../../contract/containers/container-snapshots.ts';
import { containerAccessContract } from '../../contract/containers/inside/container-access.ts';
import { containerProcessesContract } from '../../contract/containers/processes/container-processes.ts';
import { roleInstallerContract } from '../../contract/containers/role-setups.ts';
import { volumeCopiesContract } from '../../contract/containers/snapshots/volume-copies.ts';
import { poolMemberContract, warmPoolEngineContract } from '../../contract/containers/warm-pool.ts';
import { storageContracts } from '../../contract/storage.ts';
import { terminalBackendContract } from '../../contract/terminals/terminal-backend.ts';
import { storedUser } from '../../support/database/stored.ts';
import { ageVolumeIn, aSpec } from '../../support/engine/container.ts';
import { silentLog } from '../../support/samples/samples.ts';
import { aPerson, aService, as } from '../../support/service/service.ts';

const DAY_MS = 86_400_000;

const clock = fixedClock();
const storage = memoryStorage(clock);
const { state } = storage;
const before = (seconds: number) => new Date(clock.now().getTime() - seconds * 1_000);

await storageContracts('memory', storage, {
  pass: async (_table, seconds) => clock.advance(seconds * 1_000),
  now: async () => clock.now(),
  backdateSession: async (id, times) => {
    state.sessions = state.sessions.map((one) => (one.id === id ? { ...one, ...times } : one));
  },
  silenceTerminal: async (id, seconds) => {
    const lastPingAt = before(seconds);
    state.terminals = state.terminals.map((one) => (one.id === id ? { ...one, lastPingAt } : one));
  },
  silenceRun: async (run, seconds) => void state.replicaRuns.set(run, before(seconds)),
  endTimeOfShare: async (id) => {
    const expiresAt = clock.now();
    state.collaborations = state.collaborations.map((one) => (one.id === id ? { ...one, expiresAt } : one));
  },
  ageVolume: ageVolumeIn(storage),
  ageAll: async (days) => clock.advance(days * DAY_MS),
});

t.test('a long history backlog is removed in parts by the days of the settings', async (t) => {
  const { settings, sessions } = storage.repositories;
  await settings.change({ historyDays: 60 });
  const userId = (await storedUser(storage)).id;
  for (let n = 0; n < 450; n += 1) {
    const { id } = await sessions.insert({ userId, ipAddress: '', userAgent: '' });
    await sessions.revoke(id, userId, 'test');
  }
  const left = () => state.sessions.filter((one) => one.userId === userId).length;
  clock.advance(59 * DAY_MS);
  await forgetEnded(storage, silentLog)();
  t.equal(left(), 450);
  clock.advance(2 * DAY_MS);
  await forgetEnded(storage, silentLog)();
  t.equal(left(), 0);
});

t.test('a transaction that throws is undone in rows, lists, maps and maps of maps', async (t) => {
  const storage = memoryStorage(fixedClock());
  const { state, repositories } = storage;
  const { id } = await storedUser(storage);
  const [used, other] = [Buffer.from('used'), Buffer.from('other')];
  await repositories.recoveryCodes.replace(id, [used]);
  state.orphans.set('volume', new Date());
  const place = { dbId: 'container', runtimeId: 'runtime', muxSession: 'pane-x' };
  await repositories.terminalLeases.put({ ...place, streamId: 'stream', replica: 'replica', runId: 'run' });
  const before = structuredClone(state);
  const undone = storage.inTransaction(async ({ users, recoveryCodes, terminalLeases }) => {
    await terminalLeases.markEnding('stream');
    await users.rename(id, 'renamed');
    await storedUser(storage);
    await recoveryCodes.spend(id, used);
    t.notSame(state, before);
    await recoveryCodes.replace('another', [other]);
    state.orphans.clear();
    throw new Error('undone');
  });
  await t.rejects(undone, { message: 'undone' });
  t.same(state, before);
});

busContract(t, async () => {
  const hub = memoryBusHub();
  const [here, there] = [hub.join(), hub.join()];
  return { here, there, cut: async () => there.cut(), restore: async () => there.reconnect() };
});

const runtime = memoryRuntime();
const pause = async ({ runtimeId }: RuntimeHandle): Promise<void> => {
  const box = runtime.boxes.get(runtimeId);
  if (box !== undefined) box.paused = true;
};
const access = { runtime, ...memoryAccess(runtime), image: 'any', pause };
await containerRuntimeContract('memory', access);
await pausedContainerContract('memory', access);
await containerDiskContract('memory', access);
await containerSnapshotsContract('memory', access);
await volumeCopiesContract('memory', access);
await containerAccessContract('memory', access);
await containerProcessesContract('memory', access);
await roleInstallerContract('memory', access);

const warmPool = memoryWarmPoolEngine();
warmPool.images.set('absent', null);
await poolMemberContract('memory', access);
await warmPoolEngineContract('memory', { warmPool, image: 'any', absent: 'absent' });

const handle = await runtime.create(aSpec('any'));
await runtime.start(handle);
await terminalBackendContract('memory', { terminals: memoryTerminals(runtime), handle });

const WEEK = 7 * 24;
const limits = { memory_mb: 256, cpu_shares: 1000, disk_mb: 512 };

/** A deleted container with a volume and a private image, and the services that may remove them. */
async function aDeletedBox() {
  const storage = memoryStorage(fixedClock());
  const runtime = memoryRuntime();
  const ports = { storage, runtime, runtimeNode: 'test' };
  const service = await aService(ports);
  const call = as(service, await aPerson(service, 'ada'));
  const box = (await call('POST', '/api/containers', { name: 'dev', ...limits })).json();
  const url = `/api/containers/${box.db_id}`;
  await call('PATCH', url, { name: 'dev', ...limits, memory_mb: 512, carry_over: true });
  await call('DELETE', url);
  const dbId: string = box.db_id;
  const audited = async (): Promise<number> => {
    const { records } = (await call('GET', '/api/audit')).json();
    return records.filter(
      (one: { action: string; details: string }) => one.action === 'volume_removed' && one.details === dbId,
    ).length;
  };
  return {
    ports,
    pass: (hours: number) => ageVolumeIn(storage)(dbId, hours),
    service,
    dbId,
    runtime,
    audited,
    exists: () => runtime.volumeExists(box.volume.name),
    restore: () => call('POST', `${url}/restore`),
    images: async () => (await runtime.layerImages()).filter((one) => one.dbId === dbId).length,
  };
}

t.test('a volume is removed in two steps, with its private image and an audit record', async (t) => {
  const box = await aDeletedBox();
  const { service } = box;
  for (const hours of [0, WEEK - 1, 1, 23.9]) {
    await box.pass(hours);
    await service.collectVolumes();
    t.ok(await box.exists(), `${hours} hours more`);
  }
  t.equal(await box.audited(), 0);
  await service.reconcile();
  t.equal(await box.images(), 1);
  await box.pass(0.2);
  await service.collectVolumes();
  t.notOk(await box.exists());
  t.equal((await box.restore()).statusCode, 404);
  await service.collectVolumes();
  t.equal(await box.audited(), 1, 'once');
  await service.reconcile();
  t.equal(await box.images(), 0);
});

t.test('another process completes a removal whose process died before recording it', async (t) => {
  const box = await aDeletedBox();
  await box.pass(WEEK);
  await box.service.collectVolumes();
  await box.pass(24);
  for (const point of ['collect before remove_volume', 'collect after remove_volume']) {
    let dead = (): void => {};
    const died = new Promise<void>((resolve) => {
      dead = resolve;
    });
    const checkpoint = async (name: string): Promise<void> => {
      if (name !== point) return;
      dead();
      await new Promise(() => {});
    };
    const dying = await aService(box.ports, { checkpoint });
    void dying.collectVolumes();
    await died;
    await box.service.collectVolumes();
    t.equal(await box.audited(), 0, 'not while it may still be at it');
    t.equal((await box.restore()).statusCode, 404, 'nor can it be restored any more');
    await box.pass(0.2);
  }
  t.notOk(await box.exists());
  const others = [await aService(box.ports), await aService(box.ports)];
  await Promise.all(others.map((one) => one.collectVolumes()));
  t.equal(await box.audited(), 1);
});

t.test('a used volume stays, and a silent engine is waited for', async (t) => {
  const box = await aDeletedBox();
  const { dbId, runtime } = box;
  await box.pass(WEEK);
  await box.service.collectVolumes();
  await box.pass(24);
  const faults = [
    { list: async () => Promise.reject(new RuntimeUnavailable('down')) },
    { removeVolume: async () => Promise.reject(new RuntimeFailure('volume is in use')) },
    {
      list: async () => [
        { dbId, generation: 9, state: 'stopped' as const, handle: { node: 'test', runtimeId: 'a' } },
      ],
    },
  ];
  for (const fault of faults) {
    const service = await aService({ ...box.ports, runtime: { ...runtime, ...fault } });
    await t.resolves(service.collectVolumes());
    t.ok(await box.exists());
    t.equal(await box.audited(), 0);
    await box.pass(0.2);
  }
  await box.service.collectVolumes();
  t.notOk(await box.exists());
  t.equal(await box.audited(), 1);
});
