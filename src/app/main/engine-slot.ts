import { type ContainerRuntime, RuntimeUnavailable } from '../../ports/container-runtime.ts';
import type { TerminalBackend } from '../../ports/terminal-backend.ts';

export type EngineParts = { readonly runtime: ContainerRuntime; readonly terminals: TerminalBackend };

/** Ports of an engine that may be missing at the start and come later; until then every call says so. */
export function engineSlot() {
  let current: EngineParts | null = null;
  const parts = (): EngineParts => {
    if (current === null) throw new RuntimeUnavailable('no container engine');
    return current;
  };
  const runtime: ContainerRuntime = {
    get capabilities() {
      return current?.runtime.capabilities ?? NO_CAPABILITIES;
    },
    create: async (spec) => parts().runtime.create(spec),
    start: async (handle) => parts().runtime.start(handle),
    stop: async (handle, graceSeconds) => parts().runtime.stop(handle, graceSeconds),
    remove: async (handle) => parts().runtime.remove(handle),
    find: async (dbId, generation) => parts().runtime.find(dbId, generation),
    ping: async () => parts().runtime.ping(),
    observe: async (handle) => parts().runtime.observe(handle),
    list: async () => parts().runtime.list(),
    watch: (hint) => parts().runtime.watch(hint),
    volumeExists: async (volume) => parts().runtime.volumeExists(volume),
    exec: async (handle, request) => parts().runtime.exec(handle, request),
  };
  const terminals: TerminalBackend = {
    open: async (handle, request) => parts().terminals.open(handle, request),
    killMuxSession: async (handle, name) => parts().terminals.killMuxSession(handle, name),
  };
  return {
    runtime,
    terminals,
    fill: (engine: EngineParts): void => {
      current = engine;
    },
  };
}

const NO_CAPABILITIES = {
  resizeInPlace: false,
  keepsWritableLayerOnStop: false,
  perWorkspaceSeccomp: false,
  movableVolume: false,
  pause: false,
  statsWithoutAgent: false,
  diskQuota: 'soft',
} as const;
