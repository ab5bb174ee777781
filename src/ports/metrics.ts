import type { HealthState } from '../domain/service/health.ts';

/** Counts an answer of one route, without a lookup. */
export type AnswerCount = (status: number, seconds: number) => void;

export type EngineCall = {
  /** Port and method, such as `runtime.create`. */
  readonly kind: string;
  readonly outcome: 'ok' | 'refused' | 'unavailable' | 'error';
  readonly seconds: number;
};

/** The end of a wait for the engine: the call `started`, or was refused with this code. */
export type EngineWait = {
  /**
   * `calls` change something or start a process; `transfers` are archives and uploads; `figures` are containers'
   * statistics, `sizes` their sizes.
   */
  readonly work: 'calls' | 'transfers' | 'figures' | 'sizes';
  readonly outcome: 'started' | 'engine_busy' | 'container_unresponsive';
  readonly seconds: number;
};

export type OperationStep = {
  readonly kind: string;
  readonly step: string;
  readonly outcome: 'ok' | 'failed';
};

/** The state of a component of the service in the newest reports. */
export type ComponentState = { readonly component: string; readonly state: HealthState };

/** Plain counters for the code that moves the bytes: a lookup per chunk would cost more than the chunk. */
export type TerminalBytes = { in: number; out: number };

/** Numbers read on request. */
export type Gauge =
  | 'terminals_open'
  | 'agents_connected'
  | 'ssh_connections'
  | 'address_sockets_most'
  | 'engine_waiting'
  | 'engine_work_waiting'
  | 'database_connections'
  | 'database_connections_in_use'
  | 'database_waiting'
  | 'messages_connected'
  | 'reconcile_age_seconds'
  | 'containers_running'
  | 'host_cpu_cores'
  | 'host_cpu_used_cores'
  | 'host_memory_bytes'
  | 'host_memory_used_bytes'
  | 'host_disk_bytes'
  | 'host_disk_free_bytes'
  | 'promised_cpu_cores'
  | 'promised_memory_bytes'
  | 'promised_disk_bytes';

/** Metrics of this process. No method throws or waits. */
export interface Metrics {
  /** Call once for each. `route` is its pattern, or `unknown`: never a requested address. */
  httpRoute(method: string, route: string): AnswerCount;
  /** `outcome`: `ok`, or the refusal's code. */
  authenticated(credential: 'login' | 'api_token' | 'ssh_key' | 'none', outcome: string): void;
  stepDone(step: OperationStep): void;
  engineCalled(call: EngineCall): void;
  engineWaited(wait: EngineWait): void;
  /** An event was sent this long after its commit. */
  eventSent(lagSeconds: number): void;
  /** Replaces all that was last found: a component that is not among these has no state any more. */
  healthFound(components: readonly ComponentState[]): void;
  readonly terminalBytes: TerminalBytes;
  /** The last registered reader is used. */
  watch(gauge: Gauge, read: () => number): void;
  /** All metrics in the text format. */
  text(): Promise<{ readonly type: string; readonly body: string }>;
}
