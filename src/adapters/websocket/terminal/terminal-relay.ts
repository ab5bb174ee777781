import type { WebSocket } from 'ws';
import type { SharedTerminalNotice } from '../../../app/collaboration/shared-terminals.ts';
import type { Registration } from '../../../app/identity/auth/authorized-connections.ts';
import type { OpenTerminal } from '../../../app/terminals/opening/open-terminal.ts';
import type { TerminalGrant } from '../../../app/terminals/opening/terminal-target.ts';
import type { OutputReservation, OutputSlots } from '../../../app/terminals/output/output-slots.ts';
import { unreachable } from '../../../domain/result.ts';
import type { RecordingNotice } from '../../../domain/terminals/recording.ts';
import { CLOSE, type CloseReason } from '../../../domain/terminals/terminal.ts';
import { decodeClientFrame, encodeFrame, type ServerFrame } from '../../../protocol/terminal-frames.ts';
import { answersOf } from '../bounded-replies.ts';
import { inputLimit, SocketRest } from '../socket-reader.ts';
import { InputIntake } from './input-intake.ts';
import { OutputPump } from './output-pump.ts';
import { frameRequests, toOnScreen } from './scrollback-request.ts';

const FALLBACK = 'tmux could not start in this container: this is a plain shell';

export type RelayDeps = {
  readonly registration: Registration;
  readonly close: (reason: CloseReason) => void;
  readonly outputs: OutputSlots;
};

export const send = (socket: WebSocket, frame: ServerFrame): void => socket.send(encodeFrame(frame));

/** Announces a recording's start or end: as a notice, and as a frame. */
export function sendRecording(socket: WebSocket, { id, on, message }: RecordingNotice): void {
  send(socket, { type: 'recording', on, id });
  send(socket, { type: 'notice', message });
}

/** Relays frames between a socket and its terminal. The result stops it at once. */
export function relay(
  socket: WebSocket,
  grant: TerminalGrant,
  terminal: OpenTerminal,
  { registration, close, outputs }: RelayDeps,
): () => void {
  const { mode, caller } = grant;
  const { stream, from } = terminal;
  let stopped = false;
  greet(socket, grant, terminal);
  const rest = new SocketRest(socket);
  const came = inputLimit(rest);
  const answer = answersOf(socket);
  const intake = new InputIntake(stream, rest, (offset) =>
    send(socket, { type: 'ack', input_offset: offset }),
  );
  // In order of arrival, even if some of it has to wait.
  const use = (then: () => void, bytes: number): void => {
    const taken = registration.use(() => {
      if (!stopped) then();
    }, bytes);
    if (!taken) close(CLOSE.tooSlow);
  };
  const startAt = (offset: number): void => {
    if (!intake.startAt(offset)) close(CLOSE.inputGap);
  };
  socket.on('message', (data, isBinary) => {
    if (stopped) return;
    came((data as Buffer).length);
    // A viewer's input has no effect, whatever the client does.
    if (isBinary && mode === 'view') return;
    if (isBinary) {
      const input = data as Buffer;
      use(() => intake.take(input), input.length);
      return;
    }
    const message = decodeClientFrame(data.toString());
    if (message === null) return;
    switch (message.type) {
      case 'resize':
        return void terminal.resize(message.cols, message.rows);
      case 'ping':
        return answer({ type: 'pong', t: message.t });
      case 'input_from':
        return mode === 'view' ? undefined : use(() => startAt(message.offset), 0);
      case 'look_back':
        return snapshots.request(message.id);
      case 'redraw':
        return redraws.request(message.id);
      default:
        unreachable(message);
    }
  });
  terminal.onNotice((notice) => {
    if (!stopped) send(socket, toFrame(notice));
  });
  const sendEnd = async (): Promise<void> => {
    const { reason, code } = await terminal.ended();
    if (stopped) return;
    // Input unacknowledged at the close must be resent by the client.
    intake.flush();
    if (reason === CLOSE.ended) send(socket, { type: 'exit', code });
    close(reason);
  };
  const pump = new OutputPump(stream, from, socket, {
    over: () => void sendEnd(),
    stalled: () => close(CLOSE.tooSlow),
  });
  const { snapshots, redraws } = screenRequests(socket, stream, () => outputs.reserve(caller.user.id));
  return () => {
    stopped = true;
    snapshots.stop();
    redraws.stop();
    pump.stop();
    intake.stop();
  };
}

function screenRequests(socket: WebSocket, stream: OpenTerminal['stream'], reserve: () => OutputReservation) {
  const snapshots = frameRequests(
    socket,
    async (id, room) => toOnScreen(id, await stream.requestScrollback(room)),
    reserve,
  );
  const redraw = async (id: number | null): Promise<ServerFrame> => {
    await stream.redraw();
    return { type: 'redrawn', id };
  };
  return { snapshots, redraws: frameRequests(socket, redraw, reserve) };
}

function greet(
  socket: WebSocket,
  { options, access, mode, container }: TerminalGrant,
  terminal: OpenTerminal,
): void {
  const { stream, from } = terminal;
  send(socket, {
    type: 'ready',
    stream: stream.id,
    offset: from.offset,
    redraw: from.redraw,
    input_offset: stream.received(),
    cols: options.cols,
    rows: options.rows,
    connection_id: options.connectionId,
    mux_session: stream.muxSession,
    started_at: container.startedAt?.toISOString() ?? null,
    fallback: stream.isFallback,
    owner: access === null,
    mode,
  });
  if (stream.isFallback) send(socket, { type: 'notice', message: FALLBACK });
  const recording = terminal.recording();
  if (recording !== null) sendRecording(socket, recording);
}

function toFrame(notice: SharedTerminalNotice): ServerFrame {
  if (notice.type === 'size') {
    return { type: 'size', cols: notice.size?.cols ?? null, rows: notice.size?.rows ?? null };
  }
  const participants = notice.present.map(({ userId, ...one }) => ({ user_id: userId, ...one }));
  return { type: 'participants', participants };
}
