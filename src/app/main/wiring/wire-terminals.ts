import { randomUUID } from 'node:crypto';
import { adminTerminalRoutes } from '../../../adapters/http/routes/terminals/admin-terminals.ts';
import { collaborationRoutes } from '../../../adapters/http/routes/terminals/collaborations.ts';
import type { Routes } from '../../../adapters/http/server.ts';
import { terminalSocket } from '../../../adapters/websocket/terminal/terminal-socket.ts';
import { xtermScreens } from '../../../adapters/xterm/headless-terminals.ts';
import { collaborations } from '../../collaboration/collaborations.ts';
import type { LoginThrottle } from '../../identity/auth/login-throttle.ts';
import { adminTerminals } from '../../terminals/admin-terminals.ts';
import { terminalReaper } from '../../terminals/cleanup/terminal-reaper.ts';
import { terminals } from '../../terminals/terminals.ts';
import type { AllPorts, ComposeOptions } from '../compose-options.ts';
import type { SharedServices } from './shared-services.ts';
import { wireRecordings } from './wire-recordings.ts';

type OfOthers = {
  readonly throttle: LoginThrottle;
  readonly publicUrl: () => string;
  readonly isDraining: () => boolean;
};

/** Terminals, their recordings and shares. */
export function wireTerminals(
  ports: AllPorts,
  options: ComposeOptions,
  shared: SharedServices,
  { throttle, publicUrl, isDraining }: OfOthers,
) {
  const { storage, activityRecords, authorizedConnections: live, outputSlots: outputs } = shared;
  const { bus, clock, runtime, terminalBackend: backend, monotonicMs } = ports;
  const { repositories } = storage;
  const log = options.logger;
  const tapes = wireRecordings({ ...ports, storage }, activityRecords, options);
  const shells = terminals(
    {
      storage,
      bus,
      clock,
      log,
      monotonicMs,
      engine: { backend, runtime, screens: xtermScreens },
      me: { replica: options.replica, runId: randomUUID() },
      observer: tapes.forTerminals,
    },
    options.connections.terminalOpening,
  );
  ports.metrics.watch('terminals_open', shells.count);
  const { leases } = shells;
  const reapTerminals = terminalReaper({
    repositories,
    runtime,
    backend,
    leases,
    log,
    clock,
    monotonicMs,
    isStopping: isDraining,
  });
  const sharing = collaborations({ storage, backend, throttle, bus, clock, log, publicUrl });
  const taped = tapes.over(shells, live);
  const socket: Routes = ({ sockets }) => terminalSocket(sockets, { terminals: shells, log, live, outputs });
  const admin = adminTerminalRoutes(adminTerminals({ storage, terminals: shells, bus, monotonicMs }));
  return {
    routes: [admin, collaborationRoutes(sharing), taped.routes, socket],
    work: { terminals: shells, reapTerminals, recordings: taped.work, collaborations: sharing },
    /** For a timer. */
    writeDue: () => Promise.all([shells.writeDue(), taped.work.tick()]),
  };
}
