import type { FastifyBaseLogger } from 'fastify';
import type { LiveBody, ReadyBody } from '../../adapters/http/schema/service.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ContainerCommands } from '../../ports/containers/container-commands.ts';
import type { ContainerFiles } from '../../ports/containers/container-files.ts';
import type { WarmPoolEngine } from '../../ports/containers/container-images.ts';
import type { ContainerInsight } from '../../ports/containers/container-insight.ts';
import type { ContainerRuntime } from '../../ports/containers/container-runtime.ts';
import type { KernelShares } from '../../ports/containers/kernel-shares.ts';
import type { RoleInstaller } from '../../ports/containers/role-installer.ts';
import type { PasswordHasher } from '../../ports/identity/password-hasher.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Storage } from '../../ports/storage.ts';
import type { RecordingFiles } from '../../ports/terminals/recording-files.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import type { TerminalQueueOptions } from '../terminals/terminal-queue.ts';
import type { Keys } from './keys/keys.ts';

/** Everything outside that the service needs, behind ports. */
export type Ports = {
  readonly storage: Storage;
  readonly runtime: ContainerRuntime;
  readonly runtimeNode: string;
  readonly terminalBackend: TerminalBackend;
  readonly commands: ContainerCommands;
  readonly files: ContainerFiles;
  readonly insight: ContainerInsight;
  readonly installer: RoleInstaller;
  readonly warmPool: WarmPoolEngine;
  readonly kernelShares: KernelShares;
  readonly hasher: PasswordHasher;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly recordingFiles: RecordingFiles;
  readonly metrics: Metrics;
  /** Milliseconds that never jump; the process's own unless a test says otherwise. */
  readonly monotonicMs?: () => number;
};

export type ComposeOptions = {
  readonly logger: FastifyBaseLogger;
  readonly keys: Keys;
  readonly version: string;
  /** UUID of this process, the same after a restart. */
  readonly replica: string;
  /** Read at each request, so that the address that was really bound can be added after the listen. */
  readonly allowedOrigins: ReadonlySet<string>;
  readonly trustProxy: readonly string[];
  /** How many files, connections included, this process may have open; null for no limit. */
  readonly openFiles: number | null;
  /** Whether programs on this machine read the metrics without a credential. */
  readonly localMetrics: boolean;
  readonly secureCookie: boolean;
  /** The address that people open; null for where it listens. */
  readonly publicUrl: string | null;
  readonly liveness: () => LiveBody;
  readonly readiness: () => Promise<ReadyBody>;
  readonly createWaitMs: number;
  /** How often open sockets are looked at for what no message reported, in milliseconds; five seconds. */
  readonly liveEveryMs?: number;
  /** How many terminals are opened at a time, and how long the others wait. */
  readonly terminalOpening?: TerminalQueueOptions;
  /** What must stay free on the host for anything new, in MB; null for a tenth or 5 GiB. */
  readonly diskFloorMb: number | null;
  /** Started containers that are kept for creates; 0 for none. */
  readonly warmPoolSize: number;
  /** How long a fresh container of an update is watched before it counts as up. */
  readonly verifyMs: number;
  /** Called before and after each step of an operation; tests of faults end the process there. */
  readonly checkpoint?: (name: string) => Promise<void>;
  /** Folder of the built browser app; null for none. */
  readonly webRoot: string | null;
};
