import { Value } from '@sinclair/typebox/value';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RawData, WebSocket } from 'ws';
import type { LiveSockets } from '../../app/live-sockets.ts';
import type { OpenTerminal, TerminalGrant, Terminals } from '../../app/terminals.ts';
import { type DomainError, Refusal } from '../../domain/errors.ts';
import type { Result } from '../../domain/result.ts';
import { CLOSE, type CloseReason } from '../../domain/terminal.ts';
import type { Logger } from '../../ports/logger.ts';
import { hangUp } from './hang-up.ts';
import { keepAlive } from './keep-alive.ts';
import { ClientMessage, type ServerMessage, TERMINAL_PROTOCOL } from './protocol.ts';
import { pumpOutput, writeInput } from './pump.ts';
import { TerminalQuery, toAsk } from './terminal-query.ts';

/** Input that may arrive while the terminal is still being opened. */
const MAX_EARLY_FRAMES = 256;

export type TerminalSocketDeps = {
  readonly terminals: Terminals;
  readonly log: Logger;
  readonly live: LiveSockets;
};

/** GET /api/containers/{id}/terminal: refused as plain HTTP before the upgrade, a terminal after it. */
export function terminalSocket(http: FastifyInstance, deps: TerminalSocketDeps): void {
  const grants = new WeakMap<FastifyRequest, TerminalGrant>();
  http.route<{ Params: { id: string } }>({
    method: 'GET',
    url: '/api/containers/:id/terminal',
    config: { scope: 'write', subprotocol: TERMINAL_PROTOCOL, failure: 'failed to open terminal' },
    schema: { querystring: TerminalQuery },
    preHandler: async (request) => {
      const ask = toAsk(request.query as Parameters<typeof toAsk>[0]);
      const { caller, origin } = request;
      grants.set(request, orRefuse(await deps.terminals.authorize(request.params.id, ask, caller, origin)));
    },
    handler: async (_request, reply) =>
      reply.code(426).header('upgrade', 'websocket').send({
        error: 'this address is a WebSocket: connect with one',
        code: 'upgrade_required',
      }),
    wsHandler: (socket, request) => {
      const grant = grants.get(request);
      if (grant === undefined) throw new Error('a socket was opened without a grant');
      serve(socket, grant, deps).catch((err: unknown) => deps.log.error({ err }, 'a terminal failed'));
    },
  });
}

function orRefuse<T>(result: Result<T, DomainError>): T {
  if (!result.ok) throw new Refusal(result.error);
  return result.value;
}

const send = (socket: WebSocket, message: ServerMessage): void => socket.send(JSON.stringify(message));

async function serve(
  socket: WebSocket,
  grant: TerminalGrant,
  { terminals, log, live }: TerminalSocketDeps,
): Promise<void> {
  const close = (reason: CloseReason): void => hangUp(socket, reason);
  const early: [RawData, boolean][] = [];
  const hold = (data: RawData, isBinary: boolean): void => {
    if (early.length < MAX_EARLY_FRAMES) early.push([data, isBinary]);
    else close(CLOSE.tooSlow);
  };
  // Listeners first: a frame or an end that comes while the terminal opens must not be lost.
  socket.on('error', (error) => log.info({ err: error }, 'terminal socket failed'));
  socket.on('message', hold);
  const registration = live.register({
    caller: grant.caller,
    mayStay: terminals.mayStay,
    close: () => close(CLOSE.unauthorized),
  });
  socket.once('close', registration.end);
  socket.on('message', (_data, isBinary) => isBinary && registration.used());
  const terminal = await terminals.open(grant, { close }).catch((error: unknown) => {
    log.error({ err: error }, 'terminal did not open');
    send(socket, { type: 'notice', message: 'failed to open terminal' });
    socket.close(1011, 'failed to open terminal');
    return null;
  });
  if (terminal === null) return;
  socket.off('message', hold);
  if (socket.readyState !== socket.OPEN) return terminal.release();
  relay(socket, grant, terminal, close, log);
  keepAlive(socket, terminal.pinged);
  for (const [data, isBinary] of early) socket.emit('message', data, isBinary);
}

function relay(
  socket: WebSocket,
  { ask }: TerminalGrant,
  terminal: OpenTerminal,
  close: (reason: CloseReason) => void,
  log: Logger,
): void {
  const { pty, id, release } = terminal;
  send(socket, {
    type: 'ready',
    stream: id,
    offset: 0,
    input_offset: 0,
    cols: ask.cols,
    rows: ask.rows,
    connection_id: ask.connectionId,
    mux_session: pty.muxSession,
    owner: true,
    mode: 'control',
  });
  const stopPump = pumpOutput(pty.stream, socket, () => close(CLOSE.tooSlow));
  socket.on('message', (data, isBinary) => {
    // Frames still come in while a close is on its way.
    if (socket.readyState !== socket.OPEN) return;
    if (isBinary) writeInput(socket, pty.stream, data as Buffer);
    else control(socket, terminal, data.toString());
  });
  pty.stream.once('close', () => void ended(socket, terminal, close));
  socket.once('close', () => {
    stopPump();
    release().catch((err: unknown) => log.error({ err }, 'the end of a terminal was not recorded'));
  });
}

/** The program ended, or the engine's stream broke: says which, then closes. */
async function ended(
  socket: WebSocket,
  { pty }: OpenTerminal,
  close: (reason: CloseReason) => void,
): Promise<void> {
  if (socket.readyState !== socket.OPEN) return;
  send(socket, { type: 'exit', code: await pty.exitCode() });
  close(CLOSE.ended);
}

function control(socket: WebSocket, terminal: OpenTerminal, text: string): void {
  const message = parse(text);
  switch (message?.type) {
    case 'resize':
      void terminal.resize(message.cols, message.rows);
      break;
    case 'ping':
      send(socket, { type: 'pong', t: message.t });
      break;
  }
}

/** null for anything that is not a known message. */
function parse(text: string): ClientMessage | null {
  try {
    const value: unknown = JSON.parse(text);
    return Value.Check(ClientMessage, value) ? value : null;
  } catch {
    return null;
  }
}
