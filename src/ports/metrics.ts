/** An answer of one route, counted without looking anything up. */
export type AnswerCount = (status: number, seconds: number) => void;

export type EngineCall = {
  /** Port and method, as `runtime.create`. */
  readonly kind: string;
  readonly outcome: 'ok' | 'refused' | 'unavailable' | 'error';
  readonly seconds: number;
};

/** A wait for the engine is over: the call `started`, or was refused by this code. */
export type EngineWait = {
  /** `calls` change something or start a process; `transfers` are archives and uploads, `figures` and `sizes` those of containers. */
  readonly work: 'calls' | 'transfers' | 'figures' | 'sizes';
  readonly outcome: 'started' | 'engine_busy' | 'container_unresponsive';
  readonly seconds: number;
};

export type OperationStep = {
  readonly kind: string;
  readonly step: string;
  readonly outcome: 'ok' | 'failed';
};

/** What is counted by whoever moves the bytes, as plain numbers: a look-up for each chunk would cost more than the chunk. */
export type TerminalBytes = { in: number; out: number };

/** Numbers that are looked at when somebody asks for them. */
export type Gauge =
  | 'terminals_open'
  | 'address_sockets_most'
  | 'engine_waiting'
  | 'engine_work_waiting'
  | 'database_connections'
  | 'database_connections_in_use'
  | 'database_waiting'
  | 'reconcile_age_seconds';

/** Counts of what happens in this process. No method throws or waits. */
export interface Metrics {
  /** Once for each. `route` is its pattern, or `unknown`: never an address that somebody sent. */
  httpRoute(method: string, route: string): AnswerCount;
  /** `outcome`: `ok`, or the code of the refusal. */
  authenticated(credential: 'login' | 'api_token' | 'none', outcome: string): void;
  stepDone(step: OperationStep): void;
  engineCalled(call: EngineCall): void;
  engineWaited(wait: EngineWait): void;
  /** An event went out so long after its commit. */
  eventSent(lagSeconds: number): void;
  readonly terminalBytes: TerminalBytes;
  /** The last one to say so is asked. */
  watch(gauge: Gauge, read: () => number): void;
  /** All of it, for the one who collects them. */
  text(): Promise<{ readonly type: string; readonly body: string }>;
}
