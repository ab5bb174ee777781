import { ALL_CAPABILITIES, type EngineCapabilities } from '../../../domain/containers/engine-capabilities.ts';
import type { EngineHost } from '../../../ports/containers/capacity/engine-host.ts';
import type { ContainerEngine } from '../../../ports/containers/container-engine.ts';
import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type {
  ContainerCommands,
  RoleInstaller,
} from '../../../ports/containers/inside/container-commands.ts';
import type { ContainerFiles } from '../../../ports/containers/inside/container-files.ts';
import type { ContainerInsight } from '../../../ports/containers/inside/container-insight.ts';
import type { FileSearch } from '../../../ports/containers/inside/file-search.ts';
import type { KernelShares } from '../../../ports/containers/kernel-shares.ts';
import type { ContainerProcesses } from '../../../ports/containers/processes/container-processes.ts';
import type { TerminalBackend } from '../../../ports/terminals/terminal-backend.ts';

export type EngineParts = {
  readonly runtime: ContainerEngine;
  readonly terminals: TerminalBackend;
  readonly commands: ContainerCommands;
  readonly processes: ContainerProcesses;
  readonly files: ContainerFiles;
  readonly fileSearch: FileSearch;
  readonly insight: ContainerInsight;
  readonly installer: RoleInstaller;
  readonly warmPool: WarmPoolEngine;
  readonly kernelShares: KernelShares;
  readonly host: EngineHost;
};

type InUse = { engine: EngineParts | null };

/** The present engine's recurring work, and its end. */
type Upkeep = {
  assertRules: () => Promise<readonly string[]>;
  describe: () => Promise<void>;
  spread: () => Promise<void>;
  close: () => Promise<void>;
};

const NO_UPKEEP: Readonly<Upkeep> = {
  assertRules: async () => [],
  describe: async () => {},
  spread: async () => {},
  close: async () => {},
};

export type EngineSlot = ReturnType<typeof engineSlot>;

/**
 * Ports for an engine that may come later; until then every call throws `RuntimeUnavailable`. `capabilities`: what it
 * will do.
 */
export function engineSlot(capabilities = ALL_CAPABILITIES) {
  const inUse: InUse = { engine: null };
  const upkeep: Upkeep = { ...NO_UPKEEP };
  return {
    ...forwardedPorts(inUse, capabilities),
    /** Work that keeps the engine's network closed. */
    keep: (rules: Upkeep['assertRules']): void => {
      upkeep.assertRules = rules;
    },
    assertRules: (): Promise<readonly string[]> => upkeep.assertRules(),
    /** Work that updates the readiness of the engine's disk and resource view. */
    describeWith: (work: Upkeep['describe']): void => {
      upkeep.describe = work;
    },
    describe: (): Promise<void> => upkeep.describe(),
    /** Work that moves containers to less busy cores. */
    spreadWith: (work: Upkeep['spread']): void => {
      upkeep.spread = work;
    },
    spread: (): Promise<void> => upkeep.spread(),
    /** Work after leaving the engine. */
    closeWith: (work: Upkeep['close']): void => {
      upkeep.close = work;
    },
    close: (): Promise<void> => upkeep.close(),
    fill: (engine: EngineParts): void => {
      inUse.engine = engine;
    },
    /** As before the first `fill`: every call is refused, and no work recurs. */
    empty: (): void => {
      inUse.engine = null;
      Object.assign(upkeep, NO_UPKEEP);
    },
  };
}

function forwardedPorts(inUse: InUse, capabilities: EngineCapabilities): EngineParts {
  const parts = (): EngineParts => {
    if (inUse.engine === null) throw new RuntimeUnavailable('no container engine');
    return inUse.engine;
  };
  return {
    runtime: forwarded(() => parts().runtime, {
      // These work without an engine as well.
      capabilities,
      get diskQuota() {
        return inUse.engine?.runtime.diskQuota ?? 'soft';
      },
      endHung: async (handle) => (await inUse.engine?.runtime.endHung(handle)) ?? false,
      watch: (hint) => parts().runtime.watch(hint),
    }),
    // Without an engine a terminal opens, and is closed with the reason.
    terminals: forwarded(() => parts().terminals, { checkReach: async () => {} }),
    commands: forwarded(() => parts().commands),
    processes: forwarded(() => parts().processes),
    files: forwarded(() => parts().files),
    fileSearch: forwarded(() => parts().fileSearch),
    insight: forwarded(() => parts().insight),
    installer: forwarded(() => parts().installer),
    warmPool: forwarded(() => parts().warmPool),
    host: forwarded(() => parts().host),
    kernelShares: { read: async () => (await inUse.engine?.kernelShares.read()) ?? null },
  };
}

/** The port of the engine in use: each call goes there with all its arguments, or rejects. `own` has the exceptions. */
const forwarded = <T extends object>(port: () => T, own: Partial<T> = {}): T =>
  new Proxy(own as T, {
    get(exceptions, key) {
      if (key in exceptions || typeof key === 'symbol' || key === 'then') return Reflect.get(exceptions, key);
      return async (...args: unknown[]) => {
        const present = port();
        return await Reflect.apply(Reflect.get(present, key) as () => unknown, present, args);
      };
    },
  });
