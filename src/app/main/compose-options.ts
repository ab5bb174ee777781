import type { FastifyBaseLogger } from 'fastify';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { OpenIdProvider } from '../../ports/identity/openid/openid-provider.ts';
import type { PasswordHasher } from '../../ports/identity/password-hasher.ts';
import type { Metrics } from '../../ports/metrics.ts';
import type { Storage } from '../../ports/storage.ts';
import type { RecordingFiles } from '../../ports/terminals/recording-files.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import type { TerminalQueueOptions } from '../terminals/opening/terminal-queue.ts';
import type { EngineParts } from './engine/engine-ports.ts';
import type { Liveness } from './health/liveness.ts';
import type { Readiness } from './health/readiness.ts';
import type { Keys } from './keys/keys.ts';

export type Ports = Omit<EngineParts, 'terminals'> & {
  readonly storage: Storage;
  readonly runtimeNode: string;
  readonly terminalBackend: TerminalBackend;
  readonly hasher: PasswordHasher;
  /** null when none is set up. */
  readonly openIdProvider: OpenIdProvider | null;
  readonly clock: Clock;
  readonly bus: Bus;
  readonly recordingFiles: RecordingFiles;
  readonly metrics: Metrics;
  /** A monotonic clock; the process's own except in tests. */
  readonly monotonicMs?: () => number;
};

/** With the process's own clock where no other was given. */
export type AllPorts = Required<Ports>;

export type WebOptions = {
  /** Read at each request, so that the bound address can be added after listening. */
  readonly allowedOrigins: ReadonlySet<string>;
  readonly trustProxy: readonly string[];
  /** Limit of this process's open files, connections included; null for no limit. */
  readonly openFiles: number | null;
  /** Whether local programs read the metrics without a credential. */
  readonly localMetrics: boolean;
  readonly secureCookie: boolean;
  /** The address that people open; null for the bound one. */
  readonly publicUrl: string | null;
  /** Folder of the built browser app; null for none. */
  readonly webRoot: string | null;
};

export type HealthOptions = {
  readonly liveness: () => Liveness;
  readonly readiness: () => Promise<Readiness>;
};

export type ContainerOptions = {
  readonly createWaitMs: number;
  /** Free space that the host needs for anything new, in MB; null for a tenth or 5 GiB. */
  readonly diskFloorMb: number | null;
  /** 0 for none. */
  readonly warmPoolSize: number;
  /** How long an update's fresh container must run to be verified. */
  readonly verifyMs: number;
  /** Called before and after each step of an operation, for fault tests that end the process. */
  readonly checkpoint?: (name: string) => Promise<void>;
};

export type ConnectionOptions = {
  /** Interval of the check for lost messages, in milliseconds; default five seconds. */
  readonly liveEveryMs?: number;
  /** How many terminals open at once, and how long others wait. */
  readonly terminalOpening?: TerminalQueueOptions;
  /** Channels of one SSH connection; the usual number by default. */
  readonly sshChannels?: number;
};

export type ComposeOptions = {
  readonly logger: FastifyBaseLogger;
  readonly keys: Keys;
  readonly version: string;
  /** UUID of this process, the same after a restart. */
  readonly replica: string;
  readonly web: WebOptions;
  readonly health: HealthOptions;
  readonly containers: ContainerOptions;
  readonly connections: ConnectionOptions;
};
