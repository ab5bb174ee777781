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
import { inputLimit, SocketPause } from '../socket-reader.ts';
import { InputIntake } from './input-intake.ts';
import { OutputPump } from './output-pump.ts';
import { frameRequests, toOnScreen } from './scrollback-request.ts';

const FALLBACK_NOTICE = 'tmux could not start in this container: this is a plain shell';

export type RelayDeps = {
  readonly registration: Registration;
  readonly close: (reason: CloseReason) => void;
  readonly outputs: OutputSlots;
};

export const sendFrame = (socket: WebSocket, frame: ServerFrame): void => socket.send(encodeFrame(frame));

/** Announces a recording's start or end: as a notice, and as a frame. */
export function sendRecording(socket: WebSocket, { id, on, message }: RecordingNotice): void {
  sendFrame(socket, { type: 'recording', on, id });
  sendFrame(socket, { type: 'notice', message });
}

/** Relays frames between a socket and its terminal until the result is called. */
export function relay(
  socket: WebSocket,
  grant: TerminalGrant,
  terminal: OpenTerminal,
  { registration, close, outputs }: RelayDeps,
): () => void {
  const { stream, startPoint } = terminal;
  let stopped = false;
  greet(socket, grant, terminal);
  const socketPause = new SocketPause(socket);
  const intake = new InputIntake(stream, socketPause, (offset) =>
    sendFrame(socket, { type: 'ack', input_offset: offset }),
  );
  const requests = screenRequests(socket, stream, () => outputs.reserve(grant.caller.user.id));
  // Input is handled in order of arrival, also when it waits for a credential check.
  const whenAuthorized = (act: () => void, bytes: number): void => {
    const isAccepted = registration.use(() => {
      if (!stopped) act();
    }, bytes);
    if (!isAccepted) close(CLOSE.tooSlow);
  };
  const limitInput = inputLimit(socketPause);
  const handle = messageHandler({
    terminal,
    intake,
    requests,
    whenAuthorized,
    reply: answersOf(socket),
    mayType: grant.mode === 'control',
    gap: () => close(CLOSE.inputGap),
  });
  socket.on('message', (data, isBinary) => {
    if (stopped) return;
    limitInput((data as Buffer).length);
    handle(data as Buffer, isBinary);
  });
  terminal.onNotice((notice) => {
    if (!stopped) sendFrame(socket, toFrame(notice));
  });
  const sendEnd = async (): Promise<void> => {
    const { reason, code } = await terminal.ended();
    if (stopped) return;
    // Input unacknowledged at the close must be resent by the client.
    intake.flush();
    if (reason === CLOSE.ended) sendFrame(socket, { type: 'exit', code });
    close(reason);
  };
  const pump = new OutputPump(stream, startPoint, socket, {
    over: () => void sendEnd(),
    stalled: () => close(CLOSE.tooSlow),
  });
  return () => {
    stopped = true;
    requests.stop();
    pump.stop();
    intake.stop();
  };
}

type MessageDeps = {
  readonly terminal: OpenTerminal;
  readonly intake: InputIntake;
  readonly requests: ScreenRequests;
  readonly whenAuthorized: (act: () => void, bytes: number) => void;
  readonly reply: (frame: ServerFrame) => void;
  readonly mayType: boolean;
  /** Input is missing before the client's offset. */
  readonly gap: () => void;
};

/** What a client's messages do. A viewer's input has no effect, even if the client sends some. */
function messageHandler({ terminal, intake, requests, whenAuthorized, reply, mayType, gap }: MessageDeps) {
  const startAt = (offset: number): void => {
    if (!intake.startAt(offset)) gap();
  };
  return (data: Buffer, isBinary: boolean): void => {
    if (isBinary) {
      if (mayType) whenAuthorized(() => intake.take(data), data.length);
      return;
    }
    const message = decodeClientFrame(data.toString());
    if (message === null) return;
    switch (message.type) {
      case 'resize':
        // A participant's size counts only while the owner is away.
        return void terminal.resize(message.cols, message.rows);
      case 'ping':
        return void reply({ type: 'pong', t: message.t });
      case 'input_from':
        return void (mayType && whenAuthorized(() => startAt(message.offset), 0));
      case 'look_back':
        return void requests.lookBack(message.id);
      case 'redraw':
        return void requests.redraw(message.id);
      default:
        unreachable(message);
    }
  };
}

type ScreenRequests = ReturnType<typeof screenRequests>;

function screenRequests(socket: WebSocket, stream: OpenTerminal['stream'], reserve: () => OutputReservation) {
  const snapshots = frameRequests(
    socket,
    async (id, room) => toOnScreen(id, await stream.requestScrollback(room)),
    reserve,
  );
  const redrawn = async (id: number | null): Promise<ServerFrame> => {
    await stream.redraw();
    return { type: 'redrawn', id };
  };
  const redraws = frameRequests(socket, redrawn, reserve);
  return {
    lookBack: snapshots.request,
    redraw: redraws.request,
    stop(): void {
      snapshots.stop();
      redraws.stop();
    },
  };
}

function greet(
  socket: WebSocket,
  { options, access, mode, container }: TerminalGrant,
  terminal: OpenTerminal,
): void {
  const { stream, startPoint } = terminal;
  sendFrame(socket, {
    type: 'ready',
    stream: stream.id,
    offset: startPoint.offset,
    redraw: startPoint.redraw,
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
  if (stream.isFallback) sendFrame(socket, { type: 'notice', message: FALLBACK_NOTICE });
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
