import { containerRoutes } from '../../adapters/http/routes/containers.ts';
import { execRoutes } from '../../adapters/http/routes/exec.ts';
import { fileRoutes } from '../../adapters/http/routes/files.ts';
import { insightRoutes } from '../../adapters/http/routes/insight.ts';
import { roleSetupRoutes } from '../../adapters/http/routes/role-setup.ts';
import type { Routes } from '../../adapters/http/server.ts';
import { cutOffBy } from '../../adapters/http/streaming.ts';
import { containerAccess } from '../access/index.ts';
import type { ActRecords } from '../act-records.ts';
import { collectVolumes } from '../containers/collect.ts';
import { measureDisks } from '../containers/disk.ts';
import { containers } from '../containers/index.ts';
import { watchKernelShares } from '../containers/kernel-shares.ts';
import { reconcile } from '../containers/reconcile.ts';
import { watchSpace } from '../containers/watch-space.ts';
import type { Idempotency } from '../idempotency.ts';
import type { LiveSockets } from '../live-sockets.ts';
import { type Operations, operations } from '../operations/submit.ts';
import type { OutputSlots } from '../output-slots.ts';
import { type RoleSetups, roleSetups } from '../role-setup/index.ts';
import type { Terminals } from '../terminals.ts';
import { type WarmPool, warmPool } from '../warm-pool.ts';
import { followed } from './followed.ts';
import type { ComposeOptions, Ports } from './ports.ts';

/** What goes on in the background for containers. */
export type WorkspaceWork = {
  readonly warmPool: Pick<WarmPool, 'soon' | 'stop'>;
  readonly operations: Pick<Operations, 'renew' | 'takeOver' | 'idle'>;
  readonly roleSetups: Pick<RoleSetups, 'keep' | 'idle' | 'close'>;
  /** Makes the rows agree with the engine; `beat` is called as it goes on. */
  readonly reconcile: (beat?: () => void) => Promise<void>;
  /** Looks at what running containers have on their volumes; for a timer. */
  readonly measureDisks: () => Promise<void>;
  /** Stops what takes counters of the kernel from all others; for a timer. */
  readonly watchKernelShares: () => Promise<void>;
  /** Looks at the free space of the host and stops what fills it; for a timer. */
  readonly watchSpace: () => Promise<void>;
  /** Removes volumes of containers that were deleted long ago; for a timer. */
  readonly collectVolumes: () => Promise<void>;
};

/** Everything about containers: operations on them, the pool, their tools, and what is done inside. */
export function workspaces(
  ports: Ports,
  options: ComposeOptions,
  shared: {
    readonly terminals: Terminals;
    readonly live: LiveSockets;
    readonly keys: Idempotency;
    readonly acts: ActRecords;
    readonly outputs: OutputSlots;
  },
): { readonly routes: readonly Routes[]; readonly work: WorkspaceWork } {
  const { storage, runtime, installer, insight, clock } = ports;
  const { terminals, live, keys, acts, outputs } = shared;
  const { logger: log, replica: owner, diskFloorMb } = options;
  const checkpoint = options.checkpoint ?? (async () => {});
  const pool = warmPool({
    storage,
    runtime,
    engine: ports.warmPool,
    node: ports.runtimeNode,
    size: options.warmPoolSize,
    diskFloorMb,
    owner,
    log,
    checkpoint,
  });
  const { verifyMs } = options;
  const work = operations({
    storage,
    runtime,
    insight,
    terminals,
    log,
    owner,
    checkpoint,
    verifyMs,
    metrics: ports.metrics,
  });
  const tools = roleSetups({ storage, runtime, installer, clock, log, owner });
  const deps = {
    storage,
    runtime,
    runtimeNode: ports.runtimeNode,
    clock,
    operations: { ...work, submit: followed(work.submit, tools.takeUp) },
    terminals,
    warmPool: pool,
    acts,
    log,
    diskFloorMb,
    createWaitMs: options.createWaitMs,
    checkpoint,
  };
  const boxes = containers(deps);
  const inside = containerAccess({ ...ports, acts });
  const cutOffReading = cutOffBy(live, inside.mayGoOnReading);
  const cutOffWriting = cutOffBy(live, inside.mayGoOnChanging);
  return {
    routes: [
      containerRoutes(boxes, keys),
      roleSetupRoutes(tools),
      execRoutes(boxes, inside, outputs, cutOffWriting),
      fileRoutes({ access: inside, outputs, cutOffReading, cutOffWriting }),
      insightRoutes(inside, outputs, cutOffReading),
    ],
    work: {
      warmPool: pool,
      operations: work,
      roleSetups: tools,
      reconcile: reconcile(deps),
      measureDisks: measureDisks(deps),
      watchKernelShares: watchKernelShares(deps, ports.kernelShares),
      watchSpace: watchSpace(deps),
      collectVolumes: collectVolumes(deps),
    },
  };
}
