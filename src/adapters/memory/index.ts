/** `berth/testing`: every port of Berth in memory, for tests and experiments without infrastructure. */
import { createHash, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../ports/clock.ts';
import type { PasswordHasher } from '../../ports/identity/password-hasher.ts';
import { memoryBusHub } from './bus.ts';
import { memoryHost } from './containers/capacity/engine-host.ts';
import { memoryWarmPoolEngine } from './containers/container-images.ts';
import { memoryRuntime } from './containers/container-runtime.ts';
import { memoryCommands } from './containers/inside/container-commands.ts';
import { memoryFiles } from './containers/inside/container-files.ts';
import { memoryInsight } from './containers/inside/container-insight.ts';
import { memoryKernelShares } from './containers/kernel-shares.ts';
import { memoryProcesses } from './containers/processes/container-processes.ts';
import { memoryRoleInstaller } from './containers/role-installer.ts';
import { noMetrics } from './metrics.ts';
import { memoryStorage } from './storage.ts';
import { memoryRecordingFiles } from './terminals/recording-files.ts';
import { memoryTerminals } from './terminals/terminal-backend.ts';

export { type MemoryBus, memoryBusHub } from './bus.ts';
export { memoryHost } from './containers/capacity/engine-host.ts';
export { memoryWarmPoolEngine } from './containers/container-images.ts';
export { memoryRuntime } from './containers/container-runtime.ts';
export { memoryKernelShares } from './containers/kernel-shares.ts';
export type { MemoryState } from './memory-state.ts';
export { noMetrics } from './metrics.ts';
export { memoryStorage } from './storage.ts';
export { memoryTerminals } from './terminals/terminal-backend.ts';

/** A clock that moves only by `advance`. */
export function fixedClock(start = new Date('2026-01-01T00:00:00Z')): Clock & { advance(ms: number): void } {
  let now = start.getTime();
  return {
    now: () => new Date(now),
    advance: (ms) => {
      now += ms;
    },
  };
}

/** Fast hashes, for tests only: they protect nothing. */
export function quickHasher(): PasswordHasher {
  const digest = (password: string): Buffer => createHash('sha256').update(password).digest();
  return {
    hash: async (password) => digest(password).toString('hex'),
    verify: async (stored, password) =>
      stored !== null && timingSafeEqual(Buffer.from(stored, 'hex'), digest(password)),
  };
}

export function memoryAccess(runtime: Parameters<typeof memoryFiles>[0]) {
  const { search, ...files } = memoryFiles(runtime);
  return {
    commands: memoryCommands(runtime),
    processes: memoryProcesses(runtime),
    files,
    fileSearch: search,
    insight: memoryInsight(runtime),
    installer: memoryRoleInstaller(runtime),
    host: memoryHost(runtime),
  };
}

export function memoryPorts(clock: Clock = fixedClock()) {
  const runtime = memoryRuntime();
  return {
    storage: memoryStorage(clock),
    runtime,
    runtimeNode: 'memory',
    terminalBackend: memoryTerminals(runtime),
    ...memoryAccess(runtime),
    warmPool: memoryWarmPoolEngine(),
    kernelShares: memoryKernelShares(runtime),
    hasher: quickHasher(),
    openIdProvider: null,
    clock,
    bus: memoryBusHub().join(),
    recordingFiles: memoryRecordingFiles(),
    metrics: noMetrics(),
    monotonicMs: () => clock.now().getTime(),
  };
}
