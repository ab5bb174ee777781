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
import type { RuntimeHandle } from '../../../src/ports/containers/container-runtime.ts';
import { busContract } from '../../contract/bus.ts';
import { containerAccessContract } from '../../contract/containers/container-access.ts';
import { containerRuntimeContract } from '../../contract/containers/container-runtime.ts';
import { roleInstallerContract } from '../../contract/containers/role-setups.ts';
import { warmPoolEngineContract } from '../../contract/containers/warm-pool.ts';
import { storageContracts } from '../../contract/storage.ts';
import { terminalBackendContract } from '../../contract/terminals/terminal-backend.ts';
import { storedUser } from '../../support/database/stored.ts';
import { aSpec } from '../../support/engine/container.ts';
import { ageVolumeIn } from '../../support/engine/volume-age.ts';
import { silentLog } from '../../support/silent-log.ts';

const DAY_MS = 86_400_000;

const clock = fixedClock();
const storage = memoryStorage(clock);
const { state } = storage;
const before = (seconds: number) => new Date(clock.now().getTime() - seconds * 1_000);

await storageContracts('memory', storage, {
  pass: async (_table, seconds) => clock.advance(seconds * 1_000),
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

t.test('the days are those of the settings, and a long backlog is worked off', async (t) => {
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

busContract(t, async () => {
  const hub = memoryBusHub();
  const [here, there] = [hub.join(), hub.join()];
  return { here, there, cut: async () => there.cut(), mend: async () => there.mend() };
});

const runtime = memoryRuntime();
const pause = async ({ runtimeId }: RuntimeHandle): Promise<void> => {
  const box = runtime.boxes.get(runtimeId);
  if (box !== undefined) box.paused = true;
};
const access = { runtime, ...memoryAccess(runtime), image: 'any', pause };
await containerRuntimeContract('memory', access);
await containerAccessContract('memory', access);
await roleInstallerContract('memory', access);

const warmPool = memoryWarmPoolEngine();
warmPool.images.set('absent', null);
await warmPoolEngineContract('memory', { warmPool, image: 'any', absent: 'absent' });

const handle = await runtime.create(aSpec('any'));
await runtime.start(handle);
await terminalBackendContract('memory', { terminals: memoryTerminals(runtime), handle });
