import type { ContainerCommands } from '../../../ports/containers/container-commands.ts';
import type { ContainerFiles } from '../../../ports/containers/container-files.ts';
import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';
import type { ContainerInsight } from '../../../ports/containers/container-insight.ts';
import { type ContainerRuntime, RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { KernelShares } from '../../../ports/containers/kernel-shares.ts';
import type { RoleInstaller } from '../../../ports/containers/role-installer.ts';
import type { TerminalBackend } from '../../../ports/terminals/terminal-backend.ts';

export type EngineParts = {
  readonly runtime: ContainerRuntime;
  readonly terminals: TerminalBackend;
  readonly commands: ContainerCommands;
  readonly files: ContainerFiles;
  readonly insight: ContainerInsight;
  readonly installer: RoleInstaller;
  readonly warmPool: WarmPoolEngine;
  readonly kernelShares: KernelShares;
};

type InUse = { engine: EngineParts | null };

/** The present engine's recurring work, and its end. */
type Upkeep = {
  assertRules: () => Promise<readonly string[]>;
  describe: () => Promise<void>;
  close: () => Promise<void>;
};

/** Ports for an engine that may come later; until then every call throws `RuntimeUnavailable`. */
export function engineSlot() {
  const inUse: InUse = { engine: null };
  const upkeep: Upkeep = { assertRules: async () => [], describe: async () => {}, close: async () => {} };
  return {
    ...forwardedPorts(inUse),
    /** Work that keeps the engine's network closed. */
    keep: (rules: Upkeep['assertRules']): void => {
      upkeep.assertRules = rules;
    },
    assertRules: (): Promise<readonly string[]> => upkeep.assertRules(),
    /** Work that updates the readiness of the engine's disk. */
    describeWith: (work: Upkeep['describe']): void => {
      upkeep.describe = work;
    },
    describe: (): Promise<void> => upkeep.describe(),
    /** Work after leaving the engine. */
    closeWith: (work: Upkeep['close']): void => {
      upkeep.close = work;
    },
    close: (): Promise<void> => upkeep.close(),
    fill: (engine: EngineParts): void => {
      inUse.engine = engine;
    },
  };
}

function forwardedPorts(inUse: InUse): EngineParts {
  const parts = (): EngineParts => {
    if (inUse.engine === null) throw new RuntimeUnavailable('no container engine');
    return inUse.engine;
  };
  return {
    runtime: forwardedRuntime(inUse, () => parts().runtime),
    terminals: forwardedTerminals(() => parts().terminals),
    commands: { open: async (handle, request) => parts().commands.open(handle, request) },
    files: forwardedFiles(() => parts().files),
    insight: forwardedInsight(() => parts().insight),
    installer: { install: async (handle, role) => parts().installer.install(handle, role) },
    warmPool: { imageId: async (reference) => parts().warmPool.imageId(reference) },
    kernelShares: { read: async () => (await inUse.engine?.kernelShares.read()) ?? null },
  };
}

/** The quota and the end of hung containers also work without an engine. */
const forwardedRuntime = (inUse: InUse, runtime: () => ContainerRuntime): ContainerRuntime => ({
  get diskQuota() {
    return inUse.engine?.runtime.diskQuota ?? 'soft';
  },
  create: async (spec) => runtime().create(spec),
  start: async (handle) => runtime().start(handle),
  stop: async (handle, graceSeconds) => runtime().stop(handle, graceSeconds),
  resize: async (handle, resources) => runtime().resize(handle, resources),
  remove: async (handle) => runtime().remove(handle),
  find: async (dbId, generation) => runtime().find(dbId, generation),
  endHung: async (handle) => (await inUse.engine?.runtime.endHung(handle)) ?? false,
  ping: async () => runtime().ping(),
  observe: async (handle) => runtime().observe(handle),
  list: async () => runtime().list(),
  watch: (hint) => runtime().watch(hint),
  volumeExists: async (volume) => runtime().volumeExists(volume),
  volumeFacts: async (volume) => runtime().volumeFacts(volume),
  usedBytes: async (volume, reader) => runtime().usedBytes(volume, reader),
  removeVolume: async (volume) => runtime().removeVolume(volume),
  hostSpace: async () => runtime().hostSpace(),
  layerUse: async (...args) => runtime().layerUse(...args),
  capture: async (handle, spec) => runtime().capture(handle, spec),
  snapshotImages: async () => runtime().snapshotImages(),
  removeCaptured: async (image) => runtime().removeCaptured(image),
});

const forwardedTerminals = (terminals: () => TerminalBackend): TerminalBackend => ({
  open: async (handle, request) => terminals().open(handle, request),
  hasMultiplexer: async (handle) => terminals().hasMultiplexer(handle),
  killMuxSession: async (...session) => terminals().killMuxSession(...session),
  leftovers: async (handle) => terminals().leftovers(handle),
  endMarked: async (handle, marker) => terminals().endMarked(handle, marker),
});

const forwardedFiles = (files: () => ContainerFiles): ContainerFiles => ({
  open: async (handle, path, folderAs) => files().open(handle, path, folderAs),
  write: async (handle, path, content, maxBytes) => files().write(handle, path, content, maxBytes),
  remove: async (handle, path) => files().remove(handle, path),
});

const forwardedInsight = (insight: () => ContainerInsight): ContainerInsight => ({
  logs: async (handle, request) => insight().logs(handle, request),
  usage: async (handle) => insight().usage(handle),
  changes: async (handle) => insight().changes(handle),
});
