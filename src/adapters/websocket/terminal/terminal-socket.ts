import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { WebSocket } from 'ws';
import type { AuthorizedConnections } from '../../../app/identity/auth/authorized-connections.ts';
import type { Admitted } from '../../../app/terminals/opening/terminal-admission.ts';
import type { TerminalGrant, TerminalOptions } from '../../../app/terminals/opening/terminal-target.ts';
import type { OutputSlots } from '../../../app/terminals/output/output-slots.ts';
import type { Terminals } from '../../../app/terminals/terminals.ts';
import type { RecordingNotice } from '../../../domain/terminals/recording.ts';
import { CLOSE, type CloseReason } from '../../../domain/terminals/terminal.ts';
import type { Leaving } from '../../../domain/terminals/terminal-slot-types.ts';
import type { Logger } from '../../../ports/logger.ts';
import { CLOSE_CODES } from '../../../protocol/close-codes.ts';
import { TERMINAL_PROTOCOL } from '../../../protocol/subprotocols.ts';
import { hangUp } from '../close-socket.ts';
import { keepAlive } from '../heartbeat.ts';
import { peerGone } from '../peer-gone.ts';
import { orRefuse, plainRequest } from '../upgrade-required.ts';
import { keepEarlyInput } from './early-input.ts';
import { TerminalQuery, toOptions } from './terminal-query.ts';
import { relay, sendFrame, sendRecording } from './terminal-relay.ts';

/** Codes of a deliberate close: 1005 stands for one without a code. */
const NORMAL = 1000;
const NO_CODE = 1005;

/** Notices where the close reason does not tell what to do. */
const NOT_OPENED: { readonly [R in CloseReason]?: string } = {
  [CLOSE.tooManyProcesses]:
    'this container has reached its process limit: stop some processes, or restart the container',
  [CLOSE.unresponsive]:
    'this container cannot start new programs: try again in a few seconds, or stop the container and start it again',
};

const REFUSALS = [
  'container_not_found',
  'not_authorized',
  'container_not_running',
  'guest_session_expired',
  'busy_opening_terminals',
  'sharing_needs_tmux',
  'address_full',
] as const;

export type TerminalSocketDeps = {
  readonly terminals: Terminals;
  readonly log: Logger;
  readonly live: AuthorizedConnections;
  /** For scrollback. */
  readonly outputs: OutputSlots;
};

/** GET /api/containers/{id}/terminal: refusals are plain HTTP before the upgrade; then a terminal. */
export function terminalSocket(http: FastifyInstance, deps: TerminalSocketDeps): void {
  const admitted = new WeakMap<FastifyRequest, Admitted>();
  http.route<{ Params: { id: string } }>({
    method: 'GET',
    url: '/api/containers/:id/terminal',
    config: {
      scope: 'write',
      forRestricted: true,
      subprotocol: TERMINAL_PROTOCOL,
      failure: 'failed to open terminal',
      lasting: 'terminals',
    },
    schema: {
      operationId: 'terminals.connect',
      summary: 'Open a terminal in a container',
      refusals: REFUSALS,
      querystring: TerminalQuery,
    },
    preHandler: async (request) => {
      const options = toOptions(request.query as Parameters<typeof toOptions>[0]);
      const { id } = request.params;
      if (request.ws) admitted.set(request, await admit(request, id, options, deps.terminals));
      else orRefuse(await deps.terminals.check(id, options, request.caller, request.origin));
    },
    handler: plainRequest,
    wsHandler: (socket, request) => {
      const allowed = admitted.get(request);
      if (allowed === undefined) throw new Error('a socket was opened without a grant');
      serve(socket, allowed, deps).catch((err: unknown) => deps.log.error({ err }, 'a terminal failed'));
    },
  });
}

/** Waits for a turn while the client does. An unused turn ends with the connection. */
async function admit(
  { caller, origin, raw }: FastifyRequest,
  id: string,
  options: TerminalOptions,
  terminals: Terminals,
): Promise<Admitted> {
  // Injected requests have none.
  const socket: Socket | undefined = raw.socket;
  const { signal, stop } = peerGone(socket);
  const answer = await terminals.admit(id, options, caller, origin, signal).finally(stop);
  const allowed = orRefuse(answer);
  if (socket?.destroyed) allowed.turn.abandon();
  socket?.once('close', allowed.turn.abandon);
  return allowed;
}

/** Opens the terminal and relays it until one side ends it. */
async function serve(socket: WebSocket, { grant, turn }: Admitted, deps: TerminalSocketDeps): Promise<void> {
  const { terminals, log, live, outputs } = deps;
  let closed: CloseReason | null = null;
  let stop = (): void => {};
  let ready = false;
  // Nothing is sent or accepted after the decision to close.
  const close = (reason: CloseReason): void => {
    closed = reason;
    stop();
    hangUp(socket, reason);
  };
  // Listeners first: frames or an end during the opening must not be lost.
  socket.on('error', (error) => log.info({ err: error }, 'terminal socket failed'));
  const earlyInput = keepEarlyInput(socket, () => close(CLOSE.tooSlow));
  let left: Leaving = 'lost';
  socket.once('close', (code) => {
    left = closed === CLOSE.unauthorized ? 'expelled' : leavingOf(code);
  });
  // Before `ready`, recordings are reported with it.
  const isShown = (): boolean => ready && closed === null && socket.readyState === socket.OPEN;
  const notify = (notice: RecordingNotice): void => {
    if (isShown()) sendRecording(socket, notice);
  };
  const show = (message: string): void => {
    if (isShown()) sendFrame(socket, { type: 'notice', message });
  };
  const registration = live.register({
    caller: grant.caller,
    mayStay: terminals.mayStay,
    close: () => close(CLOSE.unauthorized),
  });
  socket.once('close', registration.end);
  const terminal = await terminals
    .open(grant, { close, notify, show }, turn)
    .catch(async (error: unknown) => {
      close(await explainFailure(socket, grant, error, deps));
      return null;
    });
  if (terminal === null) return;
  earlyInput.stop();
  if (closed !== null || socket.readyState !== socket.OPEN) return terminal.release(left);
  ready = true;
  terminal.shown();
  stop = relay(socket, grant, terminal, { registration, close, outputs });
  keepAlive(socket, terminal.pinged);
  socket.once('close', () => {
    stop();
    void terminal.release(left);
  });
  earlyInput.replay();
}

/** Logs why a terminal did not open, and tells the client. Returns the reason of the close. */
async function explainFailure(
  socket: WebSocket,
  grant: TerminalGrant,
  error: unknown,
  { terminals, log }: TerminalSocketDeps,
): Promise<CloseReason> {
  const reason = await terminals.whyNotOpened(grant, error);
  // A full or stopped container is no fault of the service.
  const isFault = reason === CLOSE.notOpened || reason === CLOSE.tryAgainLater;
  log[isFault ? 'error' : 'info']({ err: error, code: CLOSE_CODES[reason] }, 'terminal did not open');
  if (socket.readyState === socket.OPEN)
    sendFrame(socket, { type: 'notice', message: NOT_OPENED[reason] ?? reason });
  return reason;
}

/** A client that closes deliberately is done with its terminal; one that vanishes or leaves the page may return. */
const leavingOf = (code: number): Leaving => (code === NORMAL || code === NO_CODE ? 'deliberate' : 'lost');
