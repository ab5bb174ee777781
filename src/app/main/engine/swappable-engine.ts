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

/** Ports of an engine that may be missing at the start and come later; until then every call says so. */
export function engineSlot() {
  let current: EngineParts | null = null;
  let assertRules = async (): Promise<readonly string[]> => [];
  let close = async (): Promise<void> => {};
  let describe = async (): Promise<void> => {};
  const parts = (): EngineParts => {
    if (current === null) throw new RuntimeUnavailable('no container engine');
    return current;
  };
  const runtime: ContainerRuntime = {
    get diskQuota() {
      return current?.runtime.diskQuota ?? 'soft';
    },
    create: async (spec) => parts().runtime.create(spec),
    start: async (handle) => parts().runtime.start(handle),
    stop: async (handle, graceSeconds) => parts().runtime.stop(handle, graceSeconds),
    resize: async (handle, resources) => parts().runtime.resize(handle, resources),
    remove: async (handle) => parts().runtime.remove(handle),
    find: async (dbId, generation) => parts().runtime.find(dbId, generation),
    endHung: async (handle) => (await current?.runtime.endHung(handle)) ?? false,
    ping: async () => parts().runtime.ping(),
    observe: async (handle) => parts().runtime.observe(handle),
    list: async () => parts().runtime.list(),
    watch: (hint) => parts().runtime.watch(hint),
    volumeExists: async (volume) => parts().runtime.volumeExists(volume),
    volumeFacts: async (volume) => parts().runtime.volumeFacts(volume),
    usedBytes: async (volume, reader) => parts().runtime.usedBytes(volume, reader),
    removeVolume: async (volume) => parts().runtime.removeVolume(volume),
    hostSpace: async () => parts().runtime.hostSpace(),
    layerUse: async (...args) => parts().runtime.layerUse(...args),
    capture: async (handle, spec) => parts().runtime.capture(handle, spec),
    capturedImages: async () => parts().runtime.capturedImages(),
    removeCaptured: async (image) => parts().runtime.removeCaptured(image),
    exec: async (handle, request) => parts().runtime.exec(handle, request),
  };
  const terminals: TerminalBackend = {
    open: async (handle, request) => parts().terminals.open(handle, request),
    hasMultiplexer: async (handle) => parts().terminals.hasMultiplexer(handle),
    killMuxSession: async (...session) => parts().terminals.killMuxSession(...session),
    leftovers: async (handle) => parts().terminals.leftovers(handle),
    endMarked: async (handle, marker) => parts().terminals.endMarked(handle, marker),
  };
  const commands: ContainerCommands = {
    open: async (handle, request) => parts().commands.open(handle, request),
  };
  const files: ContainerFiles = {
    open: async (handle, path, folderAs) => parts().files.open(handle, path, folderAs),
    write: async (handle, path, content, maxBytes) => parts().files.write(handle, path, content, maxBytes),
    remove: async (handle, path) => parts().files.remove(handle, path),
  };
  const insight: ContainerInsight = {
    logs: async (handle, request) => parts().insight.logs(handle, request),
    usage: async (handle) => parts().insight.usage(handle),
    changes: async (handle) => parts().insight.changes(handle),
  };
  const installer: RoleInstaller = {
    install: async (handle, role) => parts().installer.install(handle, role),
  };
  const warmPool: WarmPoolEngine = {
    imageId: async (reference) => parts().warmPool.imageId(reference),
  };
  const kernelShares: KernelShares = { look: async () => (await current?.kernelShares.look()) ?? null };
  return {
    runtime,
    terminals,
    commands,
    files,
    insight,
    installer,
    warmPool,
    kernelShares,
    /** What keeps the engine's network closed, to be done again and again. */
    keep: (rules: () => Promise<readonly string[]>): void => {
      assertRules = rules;
    },
    assertRules: (): Promise<readonly string[]> => assertRules(),
    /** What brings up to date what the readiness says of the engine's disk. */
    describeWith: (work: () => Promise<void>): void => {
      describe = work;
    },
    describe: (): Promise<void> => describe(),
    /** What is to be done once the engine has been left. */
    closeWith: (work: () => Promise<void>): void => {
      close = work;
    },
    close: (): Promise<void> => close(),
    fill: (engine: EngineParts): void => {
      current = engine;
    },
  };
}
