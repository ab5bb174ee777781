import { RuntimeFailure, RuntimeUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { EngineCall, Metrics, TerminalBytes } from '../../../ports/metrics.ts';
import type { TerminalBackend } from '../../../ports/terminals/terminal-backend.ts';
import type { Ports } from '../compose-options.ts';

type Count = Pick<Metrics, 'engineCalled'>;

/** Counts and times the ports' engine calls. */
export function withMetrics(ports: Ports): Ports {
  const { metrics } = ports;
  const timed = <T extends object>(name: string, port: T): T => timedPort(name, port, metrics);
  return {
    ...ports,
    runtime: timed('runtime', ports.runtime),
    commands: timed('commands', ports.commands),
    processes: timed('processes', ports.processes),
    files: timed('files', ports.files),
    fileSearch: timed('files', ports.fileSearch),
    insight: timed('insight', ports.insight),
    installer: timed('installer', ports.installer),
    terminalBackend: countingBytes(timed('terminals', ports.terminalBackend), metrics.terminalBytes),
  };
}

/** Attaches the byte counters to each PtyStream: a terminal counts on the stream that it gets. */
const countingBytes = (backend: TerminalBackend, bytes: TerminalBytes): TerminalBackend =>
  new Proxy(backend, {
    get: (target, key) =>
      key === 'open'
        ? async (...args: Parameters<TerminalBackend['open']>) =>
            Object.assign(await target.open(...args), { bytes })
        : Reflect.get(target, key),
  });

const timedPort = <T extends object>(name: string, port: T, metrics: Count): T =>
  new Proxy(port, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) =>
        timedCall(`${name}.${String(key)}`, () => value.apply(target, args), metrics);
    },
  });

function timedCall(kind: string, call: () => unknown, metrics: Count): unknown {
  const startMs = performance.now();
  const report = (outcome: EngineCall['outcome']): void =>
    metrics.engineCalled({ kind, outcome, seconds: (performance.now() - startMs) / 1000 });
  const result = call();
  if (!(result instanceof Promise)) return result;
  result.then(
    () => report('ok'),
    (error: unknown) => report(outcomeOf(error)),
  );
  return result;
}

function outcomeOf(error: unknown): EngineCall['outcome'] {
  if (error instanceof RuntimeUnavailable) return 'unavailable';
  return error instanceof RuntimeFailure ? 'refused' : 'error';
}
