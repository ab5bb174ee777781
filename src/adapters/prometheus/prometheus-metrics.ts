import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { ComponentState, Gauge as GaugeName, Metrics, TerminalBytes } from '../../ports/metrics.ts';
import { httpAnswers } from './http-histogram.ts';

const ENGINE_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];
const LAG_SECONDS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 60];

const GAUGES: Readonly<Record<GaugeName, string>> = {
  agents_connected: 'Agents connected to this process.',
  terminals_open: 'Open terminal sockets in this process.',
  ssh_connections: 'Signed-in SSH connections in this process.',
  address_sockets_most: 'Open sockets in this process of the address with the most.',
  engine_waiting: 'Calls waiting for a turn at the container engine.',
  engine_work_waiting: 'Archives, uploads, statistics and sizes waiting for a turn at the container engine.',
  database_connections: 'Database connections in the pool.',
  database_connections_in_use: 'Database connections in use.',
  database_waiting: 'Callers waiting for a database connection.',
  messages_connected: '1 while messages from other processes arrive.',
  reconcile_age_seconds: 'Time since the last reconciliation of rows and engine.',
  containers_running: 'Running containers, in all processes.',
  host_cpu_cores: "Cores of the engine's machine.",
  host_cpu_used_cores: "Cores in use by all programs of the engine's machine.",
  host_memory_bytes: "Memory of the engine's machine.",
  host_memory_used_bytes: "Memory in use by all programs of the engine's machine, without caches.",
  host_disk_bytes: 'Size of the disk with the data folder.',
  host_disk_free_bytes: 'Free space of the disk with the data folder.',
  promised_cpu_cores: 'Sum of the processor limits of running containers.',
  promised_memory_bytes: 'Sum of the memory limits of running containers.',
  promised_disk_bytes: 'Sum of the disk sizes of all containers.',
};

/** No fault is known of what is being tested. */
const STATES = { ready: 0, testing: 0, degraded: 1, down: 2 } as const satisfies Record<
  ComponentState['state'],
  number
>;

const STEPS = {
  name: 'berth_operation_steps_total',
  help: 'Steps of changes to containers.',
  labelNames: ['kind', 'step', 'outcome'],
} as const;

const ENGINE_CALLS = {
  name: 'berth_engine_call_duration_seconds',
  help: 'Calls of the container engine.',
  labelNames: ['kind', 'outcome'],
  buckets: ENGINE_SECONDS,
} as const;

const ENGINE_WAITS = {
  name: 'berth_engine_wait_seconds',
  help: 'Waits for a turn at the container engine, by outcome.',
  labelNames: ['work', 'outcome'],
  buckets: ENGINE_SECONDS,
} as const;

const EVENT_LAG = {
  name: 'berth_event_lag_seconds',
  help: 'Time from the commit of an event to its delivery to subscribers of this process.',
  buckets: LAG_SECONDS,
} as const;

const COMPONENTS = {
  name: 'berth_component_state',
  help: 'Components of the service: 0 ready, 1 degraded, 2 down.',
  labelNames: ['component'],
} as const;

/** A registry with our metrics and the process's: memory, processor, garbage collection, event loop lag. */
export function prometheusMetrics(): Metrics {
  const registers = [new Registry()];
  const [registry] = registers as [Registry];
  collectDefaultMetrics({ register: registry });
  const steps = new Counter({ ...STEPS, registers });
  const calls = new Histogram({ ...ENGINE_CALLS, registers });
  const waits = new Histogram({ ...ENGINE_WAITS, registers });
  const lag = new Histogram({ ...EVENT_LAG, registers });
  const health = new Gauge({ ...COMPONENTS, registers });
  const terminalBytes = countedBytes(registers);
  const reads = watched(registers);
  return {
    httpRoute: httpAnswers(registry, Counter),
    authenticated: authentications(registers),
    stepDone: (step) => steps.inc(step),
    engineCalled: ({ kind, outcome, seconds }) => calls.observe({ kind, outcome }, seconds),
    engineWaited: ({ work, outcome, seconds }) => waits.observe({ work, outcome }, seconds),
    eventSent: (seconds) => lag.observe(Math.max(0, seconds)),
    healthFound: (components) => {
      health.reset();
      for (const { component, state } of components) health.set({ component }, STATES[state]);
    },
    terminalBytes,
    watch: (gauge, read) => void reads.set(gauge, read),
    text: async () => ({ type: registry.contentType, body: await registry.metrics() }),
  };
}

/** Plain numbers, for the same reason. */
function authentications(registers: Registry[]): Metrics['authenticated'] {
  const counts = {
    login: new Map<string, number>(),
    api_token: new Map<string, number>(),
    ssh_key: new Map<string, number>(),
    none: new Map<string, number>(),
  } as const;
  new Counter({
    name: 'berth_authentications_total',
    help: 'Authentication of requests, by outcome.',
    labelNames: ['credential', 'outcome'],
    registers,
    collect() {
      this.reset();
      for (const [credential, outcomes] of Object.entries(counts)) {
        for (const [outcome, count] of outcomes) this.inc({ credential, outcome }, count);
      }
    },
  });
  return (credential, outcome) =>
    void counts[credential].set(outcome, (counts[credential].get(outcome) ?? 0) + 1);
}

/** Plain numbers, read on collection. */
function countedBytes(registers: Registry[]): TerminalBytes {
  const bytes: TerminalBytes = { in: 0, out: 0 };
  new Counter({
    name: 'berth_terminal_bytes_total',
    help: 'Terminal bytes: in (to programs) and out (from programs).',
    labelNames: ['direction'],
    registers,
    collect() {
      this.reset();
      this.inc({ direction: 'in' }, bytes.in);
      this.inc({ direction: 'out' }, bytes.out);
    },
  });
  return bytes;
}

function watched(registers: Registry[]): Map<GaugeName, () => number> {
  const reads = new Map<GaugeName, () => number>();
  for (const [gauge, help] of Object.entries(GAUGES) as [GaugeName, string][]) {
    new Gauge({
      name: `berth_${gauge}`,
      help,
      registers,
      collect() {
        this.set(reads.get(gauge)?.() ?? 0);
      },
    });
  }
  return reads;
}
