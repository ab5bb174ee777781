import type { ContainerCommands, RoleInstaller } from '../../../ports/containers/container-commands.ts';
import type { ContainerEngine } from '../../../ports/containers/container-engine.ts';
import type { ContainerFiles } from '../../../ports/containers/container-files.ts';
import type { WarmPoolEngine } from '../../../ports/containers/container-images.ts';
import type { ContainerInsight } from '../../../ports/containers/container-insight.ts';
import { RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { KernelShares } from '../../../ports/containers/kernel-shares.ts';
import type { TerminalBackend } from '../../../ports/terminals/terminal-backend.ts';

export type EngineParts = {
  readonly runtime: ContainerEngine;
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
    runtime: forwarded(() => parts().runtime, {
      // These work without an engine as well.
      get diskQuota() {
        return inUse.engine?.runtime.diskQuota ?? 'soft';
      },
      endHung: async (handle) => (await inUse.engine?.runtime.endHung(handle)) ?? false,
      watch: (hint) => parts().runtime.watch(hint),
    }),
    terminals: forwarded(() => parts().terminals),
    commands: forwarded(() => parts().commands),
    files: forwarded(() => parts().files),
    insight: forwarded(() => parts().insight),
    installer: forwarded(() => parts().installer),
    warmPool: forwarded(() => parts().warmPool),
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
