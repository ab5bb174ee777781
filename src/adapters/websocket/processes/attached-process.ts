import type { WebSocket } from 'ws';
import type { AttachedProcess } from '../../../app/containers/processes/attach-process.ts';
import type { Registration } from '../../../app/identity/auth/authorized-connections.ts';
import type { ContainerProcess } from '../../../domain/containers/processes/process.ts';
import type { PtySize } from '../../../domain/containers/processes/process-request.ts';
import { signalOfExit } from '../../../domain/containers/processes/signals.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { type Result, unreachable } from '../../../domain/result.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { SocketCloseReason } from '../../../protocol/close-codes.ts';
import {
  decodeProcessClientFrame,
  encodeProcessFrame,
  OUTPUT_MARK,
  type ProcessClientFrame,
  type ProcessServerFrame,
} from '../../../protocol/process-frames.ts';
import { sent } from '../sent.ts';
import { inputLimit, SocketPause } from '../socket-reader.ts';
import { InputWriter } from './input-writer.ts';

const MAX_FRAME_BYTES = 65_536;
/** The most signals that wait, and answers that the client has not read. */
const MAX_WAITING = 64;

export type AttachmentDeps = {
  readonly registration: Pick<Registration, 'use'>;
  readonly close: (reason: SocketCloseReason) => void;
  readonly failed: (error: unknown) => void;
};

export type Attachment = {
  /** Drops what was not done yet. */
  stop(): void;
  /** Ends the output. Resolves when everything that the client sent before is done. */
  leave(): Promise<void>;
};

/** Relays between a socket and its process. */
export function attachment(socket: WebSocket, attached: AttachedProcess, deps: AttachmentDeps): Attachment {
  const { registration, close, failed } = deps;
  const socketPause = new SocketPause(socket);
  const limitInput = inputLimit(socketPause);
  const answer = boundedAnswers(socket);
  const { input, controls, react } = reactions(attached, socketPause, answer, deps);
  const use = (then: () => void, bytes: number): void => {
    if (!registration.use(then, bytes)) close(CLOSE.tooSlow);
  };
  socket.on('message', (data, isBinary) => {
    const bytes = data as Buffer;
    limitInput(bytes.length);
    if (isBinary) return bytes.length > 0 ? use(() => input.take(bytes), bytes.length) : undefined;
    const frame = decodeProcessClientFrame(bytes.toString());
    if (frame?.type === 'ping') answer({ type: 'pong', t: frame.t });
    else if (frame !== null) use(() => react(frame), 0);
  });
  passOutput(socket, attached).then(close, failed);
  return {
    stop() {
      input.stop();
      controls.stop();
      void attached.output.end();
    },
    async leave() {
      void attached.output.end();
      await new Promise<void>((resolve) => {
        if (!registration.use(resolve)) resolve();
      });
      await Promise.all([input.written(), controls.done()]);
    },
  };
}

/** What the frames of a client do. */
function reactions(
  { inputOffset, control }: AttachedProcess,
  socketPause: SocketPause,
  answer: (frame: ProcessServerFrame) => void,
  { close, failed }: AttachmentDeps,
) {
  const refused = (code: DomainError['code']): void => {
    // The frame `exit` has already said so.
    if (code !== 'process_ended') answer({ type: 'refused', code });
  };
  const input = new InputWriter(inputOffset ?? 0, control.write, socketPause, {
    acknowledge: (offset) => answer({ type: 'ack', input_offset: offset }),
    refused,
    gap: () => close(CLOSE.inputGap),
    failed,
  });
  const controls = inTurn(refused, failed);
  const resize = newestOnly((size: PtySize) => controls.act(() => control.resize(size)));
  const react = (frame: Exclude<ProcessClientFrame, { type: 'ping' }>) => {
    switch (frame.type) {
      case 'input_from':
        return input.startAt(frame.offset);
      case 'eof':
        return input.end();
      case 'resize':
        return void resize({ cols: frame.cols, rows: frame.rows });
      case 'signal':
        if (controls.waiting() >= MAX_WAITING) return close(CLOSE.tooSlow);
        return void controls.act(() => control.signal(frame.signal));
      default:
        unreachable(frame);
    }
  };
  return { input, controls, react };
}

/** Sends the output as fast as the client reads; the rest waits in the container. Returns why there is no more. */
async function passOutput(
  socket: WebSocket,
  { output, inputOffset }: AttachedProcess,
): Promise<SocketCloseReason> {
  const tell = (frame: ProcessServerFrame): Promise<void> => sent(socket, encodeProcessFrame(frame));
  const at = { ...output.start };
  await tell({ type: 'ready', ...at, input_offset: inputOffset });
  for await (const { stream, offset, data } of output.pieces) {
    if (offset !== at[stream]) await tell({ type: 'skipped', stream, offset });
    at[stream] = offset + data.length;
    const mark = Buffer.of(OUTPUT_MARK[stream]);
    for (let from = 0; from < data.length; from += MAX_FRAME_BYTES)
      await sent(socket, Buffer.concat([mark, data.subarray(from, from + MAX_FRAME_BYTES)]));
  }
  const exit = exitOf(await output.state());
  // The container is changing: the state of the process is known afterwards.
  if (exit === null) return CLOSE.tryAgainLater;
  await tell(exit);
  return CLOSE.ended;
}

function exitOf({ state }: ContainerProcess): ProcessServerFrame | null {
  if (state.kind !== 'ended') return null;
  const { exitCode, by } = state;
  const signal = exitCode === null ? null : signalOfExit(exitCode);
  return { type: 'exit', exit_code: exitCode, signal, ended_by: by };
}

type Act = () => Promise<Result<unknown, DomainError>>;

/** Runs acts one after the other. */
function inTurn(refused: (code: DomainError['code']) => void, failed: (error: unknown) => void) {
  let last = Promise.resolve();
  let [waiting, isStopped] = [0, false];
  const act = (work: Act): Promise<void> => {
    waiting += 1;
    last = last
      .then(async () => {
        waiting -= 1;
        if (isStopped) return;
        const done = await work();
        if (!done.ok && !isStopped) refused(done.error.code);
      })
      .catch(failed);
    return last;
  };
  const stop = (): void => {
    isStopped = true;
  };
  return { act, waiting: () => waiting, done: () => last, stop };
}

/** Uses values one at a time; of those that arrive meanwhile, only the newest. */
function newestOnly<T>(use: (value: T) => Promise<void>): (value: T) => Promise<void> {
  let next: { readonly value: T } | null = null;
  let isBusy = false;
  return async (value) => {
    next = { value };
    if (isBusy) return;
    isBusy = true;
    for (let now = taken(); now !== null; now = taken()) await use(now.value);
    isBusy = false;
  };
  function taken(): { readonly value: T } | null {
    const now = next;
    next = null;
    return now;
  }
}

/** Sends answers, but no more while the client does not read them. */
function boundedAnswers(socket: WebSocket): (frame: ProcessServerFrame) => void {
  let unsent = 0;
  return (frame) => {
    if (unsent >= MAX_WAITING && frame.type !== 'ack') return;
    unsent += 1;
    const done = (): void => {
      unsent -= 1;
    };
    sent(socket, encodeProcessFrame(frame)).then(done, done);
  };
}
