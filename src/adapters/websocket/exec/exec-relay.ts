import type { WebSocket } from 'ws';
import type {
  AuthorizedConnections,
  Registration,
} from '../../../app/identity/auth/authorized-connections.ts';
import type { DomainError } from '../../../domain/errors.ts';
import { authorize, type Caller } from '../../../domain/identity/caller.ts';
import { type Result, unreachable } from '../../../domain/result.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import { OutcomeUnknown } from '../../../ports/containers/container-runtime.ts';
import type {
  CommandRequest,
  ControlledCommand,
} from '../../../ports/containers/inside/container-commands.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { SocketCloseReason } from '../../../protocol/close-codes.ts';
import {
  decodeExecClientFrame,
  EXEC_STREAMS,
  type ExecClientFrame,
  type ExecServerFrame,
  type ExecStart,
  type ExecStream,
  encodeExecFrame,
} from '../../../protocol/exec-frames.ts';
import { answersOf } from '../bounded-replies.ts';
import { hangUp } from '../close-socket.ts';
import { keepAlive } from '../heartbeat.ts';
import { inputLimit, SocketRest } from '../socket-reader.ts';
import { ExecInput } from './exec-input.ts';
import { readStart } from './exec-start.ts';

export type ExecRelayDeps = {
  readonly access: { readonly mayGoOnChanging: (now: Caller) => boolean };
  readonly live: AuthorizedConnections;
  readonly log: Logger;
  readonly wordsOf: (code: DomainError['code']) => string;
};

type Run = (request: CommandRequest) => Promise<Result<ControlledCommand, DomainError>>;

const PIECE_BYTES = 65_536;
const START_WITHIN_MS = 30_000;
export const FAILURE = 'failed to execute command';

/**
 * One command on a socket, until either ends. The socket is always read, so that it can be pinged: each side sends only
 * as many bytes as the other has room for.
 */
export class ExecRelay {
  readonly #socket: WebSocket;
  readonly #run: Run;
  readonly #deps: ExecRelayDeps;
  readonly #registration: Registration;
  readonly #input: ExecInput;
  readonly #answer: (frame: ExecServerFrame) => void;
  #command: ControlledCommand | null = null;
  #isStarted = false;
  #isOver = false;
  #roomBytes = 0;
  #wake = (): void => {};

  constructor(socket: WebSocket, caller: Caller, run: Run, deps: ExecRelayDeps) {
    this.#socket = socket;
    this.#run = run;
    this.#deps = deps;
    this.#answer = answersOf(socket);
    this.#input = new ExecInput((bytes) => this.#send({ type: 'room', bytes }));
    const { access, live, log } = deps;
    socket.on('error', (err) => log.info({ err }, "a command's socket failed"));
    this.#registration = live.register({
      caller,
      mayStay: (now) => authorize(now, 'write').ok && access.mayGoOnChanging(now),
      close: () => this.#close(CLOSE.unauthorized),
    });
    const late = setTimeout(() => this.#close(CLOSE.tooSlow), START_WITHIN_MS);
    socket.once('close', () => {
      clearTimeout(late);
      this.#registration.end();
      this.#stop();
    });
    const came = inputLimit(new SocketRest(socket));
    socket.on('message', (data, isBinary) => {
      // Rates are not needed: the room limits input.
      came(isBinary ? 0 : (data as Buffer).length);
      if (this.#isOver) return;
      if (isBinary) this.#use(() => this.#take(data as Buffer), (data as Buffer).length);
      else this.#onText((data as Buffer).toString(), () => clearTimeout(late));
    });
    keepAlive(socket, () => {});
  }

  #onText(json: string, started: () => void): void {
    if (this.#isStarted) {
      const frame = decodeExecClientFrame(json);
      if (frame !== null) this.#use(() => this.#onFrame(frame));
      return;
    }
    started();
    this.#isStarted = true;
    const first = readStart(json);
    if ('faults' in first) this.#refuse({ code: 'validation_failed', fields: first.faults });
    else this.#use(() => void this.#start(first));
  }

  #onFrame(frame: ExecClientFrame): void {
    switch (frame.type) {
      case 'start':
        return;
      case 'resize':
        return void this.#command?.resize(frame.cols, frame.rows);
      case 'signal':
        return void this.#command?.signal(frame.signal);
      case 'end_input':
        this.#input.end();
        return;
      case 'ping':
        this.#answer({ type: 'pong', t: frame.t });
        return;
      case 'room':
        this.#roomBytes += frame.bytes;
        this.#wake();
        return;
      default:
        unreachable(frame);
    }
  }

  /** Handles frames in order of arrival, once the credential is known to be valid. */
  #use(then: () => void, bytes = 0): void {
    const taken = this.#registration.use(() => {
      if (!this.#isOver) then();
    }, bytes);
    if (!taken) this.#close(CLOSE.tooSlow);
  }

  #take(chunk: Buffer): void {
    if (!this.#input.take(chunk)) this.#close('too much input');
  }

  async #start({ command, env, workdir, timeout_seconds, stdin, terminal }: ExecStart): Promise<void> {
    try {
      const opened = await this.#run({
        command,
        timeoutSeconds: timeout_seconds,
        ...(env === null ? {} : { env }),
        ...(workdir === null ? {} : { workdir }),
        ...(terminal === null ? {} : { terminal }),
        ...(stdin ? { stdin: this.#input.stream } : {}),
      });
      if (!opened.ok) return this.#refuse(opened.error);
      this.#command = opened.value;
      if (this.#isOver) return await opened.value.end();
      this.#send({ type: 'started' });
      if (stdin) this.#input.begin();
      await this.#pass(opened.value);
    } catch (err) {
      if (err instanceof OutcomeUnknown) return this.#refuse({ code: 'command_outcome_unknown' });
      this.#deps.log.error({ err }, 'a command failed');
      this.#send({ type: 'refused', code: 'internal_error', error: FAILURE, fields: {} });
      this.#close(CLOSE.ended);
    }
  }

  async #pass({ events }: ControlledCommand): Promise<void> {
    for await (const event of events) {
      if (event.kind === 'exit') {
        this.#send({ type: 'exit', exit_code: event.exitCode });
        return this.#close(CLOSE.ended);
      }
      for (let at = 0; at < event.data.length; ) {
        const room = await this.#room();
        if (this.#isOver) return;
        const piece = event.data.subarray(at, at + Math.min(room, PIECE_BYTES));
        at += piece.length;
        await this.#sendOutput(event.stream, piece);
      }
    }
  }

  /** Resolves with how many bytes the client has room for; with any number once the command has ended. */
  async #room(): Promise<number> {
    while (this.#roomBytes === 0 && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return this.#roomBytes;
  }

  #sendOutput(stream: ExecStream, data: Buffer): Promise<void> {
    this.#roomBytes -= data.length;
    const frame = Buffer.concat([Buffer.of(EXEC_STREAMS[stream]), data]);
    // a failed socket also closes
    return new Promise((resolve) => this.#socket.send(frame, { binary: true }, () => resolve()));
  }

  #send(frame: ExecServerFrame): void {
    if (!this.#isOver) this.#socket.send(encodeExecFrame(frame));
  }

  #refuse(error: DomainError): void {
    const fields = error.code === 'validation_failed' ? error.fields : {};
    const [first] = Object.entries(fields);
    const words = first === undefined ? this.#deps.wordsOf(error.code) : `${first[0]} ${first[1]}`;
    this.#send({ type: 'refused', code: error.code, error: words, fields });
    this.#close(CLOSE.ended);
  }

  #close(reason: SocketCloseReason): void {
    if (!this.#isOver) hangUp(this.#socket, reason);
    this.#stop();
  }

  /** Ends a command whose client has left. */
  #stop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake();
    this.#input.stream.destroy();
    void this.#command?.end();
  }
}
