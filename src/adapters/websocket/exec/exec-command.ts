import type { DomainError } from '../../../domain/errors.ts';
import { type Result, unreachable } from '../../../domain/result.ts';
import { CLOSE, type CloseReason } from '../../../domain/terminals/terminal.ts';
import { OutcomeUnknown } from '../../../ports/containers/container-runtime.ts';
import type {
  CommandRequest,
  ControlledCommand,
} from '../../../ports/containers/inside/container-commands.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { ExecClientFrame, ExecServerFrame, ExecStart } from '../../../protocol/exec-frames.ts';
import { ExecInput } from './exec-input.ts';
import { ExecOutput, type OutputPiece } from './exec-output.ts';

/** `name`: by which its client can resume it. */
export type RunCommand = (
  request: CommandRequest,
  name: string | null,
) => Promise<Result<ControlledCommand, DomainError>>;

export type ExecCommandDeps = {
  readonly run: RunCommand;
  readonly log: Logger;
  readonly wordsOf: (code: DomainError['code']) => string;
};

/** The socket that a command has now. */
export type ExecPeer = {
  send(frame: ExecServerFrame): void;
  /** Resolves when it was sent, or the socket has failed. */
  sendOutput(piece: OutputPiece): Promise<void>;
  close(reason: CloseReason): void;
};

export const FAILURE = 'failed to execute command';

/** A command with the output that its client may lack and the input that it has, whichever socket it has. */
export class ExecCommand {
  readonly #deps: ExecCommandDeps;
  readonly #input = new ExecInput((bytes) =>
    this.#peer?.send({ type: 'room', bytes, received: this.#input.receivedBytes }),
  );
  readonly #output: ExecOutput;
  #peer: ExecPeer | null = null;
  /** The peer that output is being sent to. */
  #sendingTo: ExecPeer | null = null;
  #command: ControlledCommand | null = null;
  #signals = 0;
  /** `exit` or `refused`, once all output has come. */
  #last: ExecServerFrame | null = null;
  #isOver = false;
  #wake = (): void => {};

  /** `isResumable`: output is kept until the client has confirmed it. */
  constructor(deps: ExecCommandDeps, isResumable: boolean) {
    this.#deps = deps;
    this.#output = new ExecOutput(isResumable);
  }

  /** Runs it. Never throws. */
  async begin(peer: ExecPeer, start: ExecStart, name: string | null) {
    const { command, env, workdir, timeout_seconds, stdin, terminal } = start;
    this.#peer = peer;
    try {
      const request = {
        command,
        timeoutSeconds: timeout_seconds,
        ...(env === null ? {} : { env }),
        ...(workdir === null ? {} : { workdir }),
        ...(terminal === null ? {} : { terminal }),
        ...(stdin ? { stdin: this.#input.stream } : {}),
      };
      const opened = await this.#deps.run(request, name);
      if (!opened.ok) return this.#refuse(opened.error);
      this.#command = opened.value;
      if (this.#isOver) return await opened.value.end();
      this.#peer?.send({ type: 'started' });
      if (stdin) this.#input.begin();
      await this.#follow(opened.value);
    } catch (err) {
      if (err instanceof OutcomeUnknown) return this.#refuse({ code: 'command_outcome_unknown' });
      this.#deps.log.error({ err }, 'a command failed');
      this.#finish({ type: 'refused', code: 'internal_error', error: FAILURE, fields: {} });
    }
  }

  /** Continues on another socket, for a client with so much output; false when that is no longer kept. */
  resume(peer: ExecPeer, receivedBytes: number): boolean {
    if (this.#isOver || !this.#output.resumeAt(receivedBytes)) return false;
    this.#peer?.close(CLOSE.replaced);
    this.#peer = peer;
    peer.send({ type: 'resumed', received: this.#input.receivedBytes, signals: this.#signals });
    if (this.#command !== null) peer.send({ type: 'started' });
    this.#input.grantAgain();
    this.#pump();
    return true;
  }

  /** The socket is gone; false if the command has another one. */
  leave(peer: ExecPeer): boolean {
    if (this.#peer !== peer) return false;
    this.#peer = null;
    return true;
  }

  onFrame(frame: Exclude<ExecClientFrame, { type: 'start' | 'resume' | 'ping' }>): void {
    switch (frame.type) {
      case 'resize':
        return void this.#command?.resize(frame.cols, frame.rows);
      case 'signal':
        this.#signals += 1;
        return void this.#command?.signal(frame.signal);
      case 'end_input':
        return void this.#input.end();
      case 'room':
        if (frame.received !== null) this.#output.confirm(frame.received);
        this.#output.allow(frame.bytes);
        return void this.#pump();
      default:
        unreachable(frame);
    }
  }

  /** Takes input; false for more than there is room for. */
  take(chunk: Buffer): boolean {
    return this.#input.take(chunk);
  }

  /** Ends it because the service stops, and says so. */
  lose(): void {
    const { wordsOf } = this.#deps;
    const code = 'command_lost';
    this.#peer?.send({ type: 'refused', code, error: wordsOf(code), fields: {} });
    this.#peer?.close(CLOSE.ended);
    this.end();
  }

  /** Ends it with what it started, if it has not ended by itself. */
  end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake();
    this.#input.stream.destroy();
    void this.#command?.end();
  }

  #refuse(error: DomainError): void {
    const fields = error.code === 'validation_failed' ? error.fields : {};
    const [first] = Object.entries(fields);
    const words = first === undefined ? this.#deps.wordsOf(error.code) : `${first[0]} ${first[1]}`;
    this.#finish({ type: 'refused', code: error.code, error: words, fields });
  }

  async #follow({ events }: ControlledCommand): Promise<void> {
    for await (const event of events) {
      if (event.kind === 'exit') return this.#finish({ type: 'exit', exit_code: event.exitCode });
      this.#output.add(event.stream, event.data);
      this.#pump();
      await this.#allSent();
      if (this.#isOver) return;
    }
  }

  async #allSent(): Promise<void> {
    while (!this.#output.isSent && !this.#isOver) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #finish(frame: ExecServerFrame): void {
    this.#last = frame;
    this.#pump();
  }

  /** Sends what there is and what the client has room for, then the end. */
  #pump(): void {
    const peer = this.#peer;
    if (peer !== null && this.#sendingTo !== peer) void this.#sendTo(peer);
  }

  async #sendTo(peer: ExecPeer): Promise<void> {
    this.#sendingTo = peer;
    while (this.#peer === peer && !this.#isOver) {
      const piece = this.#output.take();
      if (piece === null) break;
      await peer.sendOutput(piece);
    }
    if (this.#sendingTo === peer) this.#sendingTo = null;
    if (this.#peer !== peer || !this.#output.isSent) return;
    this.#wake();
    if (this.#last === null) return;
    peer.send(this.#last);
    peer.close(CLOSE.ended);
  }
}
