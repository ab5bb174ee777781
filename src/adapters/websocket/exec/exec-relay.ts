import type { WebSocket } from 'ws';
import type { CommandRuns } from '../../../app/containers/inside/command-runs.ts';
import type {
  AuthorizedConnections,
  Registration,
} from '../../../app/identity/auth/authorized-connections.ts';
import type { Resumption } from '../../../domain/containers/command-run.ts';
import type { DomainError } from '../../../domain/errors.ts';
import type { FieldFaults } from '../../../domain/field-faults.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import { CLOSE } from '../../../domain/terminals/terminal.ts';
import type { SocketCloseReason } from '../../../protocol/close-codes.ts';
import {
  decodeExecClientFrame,
  EXEC_STREAMS,
  type ExecClientFrame,
  type ExecResume,
  type ExecServerFrame,
  type ExecStart,
  encodeExecFrame,
} from '../../../protocol/exec-frames.ts';
import { answersOf } from '../bounded-replies.ts';
import { hangUp } from '../close-socket.ts';
import { keepAlive } from '../heartbeat.ts';
import { inputLimit, SocketPause } from '../socket-reader.ts';
import { ExecCommand, type ExecCommandDeps, type ExecPeer } from './exec-command.ts';
import type { OutputPiece } from './exec-output.ts';
import type { ExecRuns } from './exec-runs.ts';
import { readFirst } from './exec-start.ts';

export type ExecRelayDeps = ExecCommandDeps & {
  readonly live: AuthorizedConnections;
  readonly mayStay: (now: Caller) => boolean;
  readonly runs: ExecRuns;
  readonly records: Pick<CommandRuns, 'resume'>;
  /** Of the container, for the names of commands. */
  readonly containerId: string;
};

const START_WITHIN_MS = 30_000;
/** How a socket closes when its line is lost, and when its client is coming back. */
const LOST_CODES: readonly number[] = [1006, 4000];

const LOSSES = {
  elsewhere: 'command_elsewhere',
  output_lost: 'command_output_lost',
  lost: 'command_lost',
  abandoned: 'command_abandoned',
  unknown: 'command_outcome_unknown',
} as const satisfies Record<Exclude<Resumption['kind'], 'ended'>, DomainError['code']>;

/**
 * One socket of a command. It is always read, so that it can be pinged: each side sends only as many bytes as the other
 * has room for.
 */
export class ExecRelay implements ExecPeer {
  readonly #socket: WebSocket;
  readonly #caller: Caller;
  readonly #deps: ExecRelayDeps;
  readonly #registration: Registration;
  readonly #answer: (frame: ExecServerFrame) => void;
  readonly #late: NodeJS.Timeout;
  #command: ExecCommand | null = null;
  /** The command's name, by which its client can resume it. */
  #name: string | null = null;
  #isClosed = false;

  constructor(socket: WebSocket, caller: Caller, deps: ExecRelayDeps) {
    this.#socket = socket;
    this.#caller = caller;
    this.#deps = deps;
    this.#answer = answersOf(socket);
    const { live, mayStay, log } = deps;
    socket.on('error', (err) => log.info({ err }, "a command's socket failed"));
    this.#registration = live.register({ caller, mayStay, close: () => this.#cut(CLOSE.unauthorized) });
    this.#late = setTimeout(() => this.#cut(CLOSE.tooSlow), START_WITHIN_MS);
    socket.once('close', (code) => this.#onClosed(code));
    const limitInput = inputLimit(new SocketPause(socket));
    socket.on('message', (data, isBinary) => {
      // Rates are not needed: the room limits input.
      limitInput(isBinary ? 0 : (data as Buffer).length);
      if (this.#isClosed) return;
      if (isBinary) this.#use(() => this.#take(data as Buffer), (data as Buffer).length);
      else this.#onText((data as Buffer).toString());
    });
    keepAlive(socket, () => {});
  }

  send(frame: ExecServerFrame): void {
    if (!this.#isClosed) this.#socket.send(encodeExecFrame(frame));
  }

  sendOutput({ stream, data }: OutputPiece): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    const frame = Buffer.concat([Buffer.of(EXEC_STREAMS[stream]), data]);
    // a failed socket also closes
    return new Promise((resolve) => this.#socket.send(frame, { binary: true }, () => resolve()));
  }

  close(reason: SocketCloseReason): void {
    if (!this.#isClosed) hangUp(this.#socket, reason);
    this.#isClosed = true;
  }

  #onText(json: string): void {
    if (this.#command !== null) {
      const frame = decodeExecClientFrame(json);
      if (frame !== null) this.#use(() => this.#onFrame(frame));
      return;
    }
    clearTimeout(this.#late);
    const first = readFirst(json);
    const command = new ExecCommand(this.#deps, 'run' in first && first.run !== null);
    this.#command = command;
    if ('faults' in first) this.#refuse(first.faults);
    else if (first.type === 'start') this.#use(() => this.#start(command, first));
    else this.#use(() => this.#resume(first));
  }

  #start(command: ExecCommand, start: ExecStart): void {
    const name = start.run === null ? null : this.#nameOf(start.run);
    if (name !== null && !this.#deps.runs.add(name, command)) return void this.#refuse({ run: 'is in use' });
    this.#name = name;
    void command.begin(this, start, name);
  }

  #resume({ run, received }: ExecResume): void {
    const name = this.#nameOf(run);
    const command = this.#deps.runs.find(name);
    if (command?.resume(this, received) === true) {
      this.#command = command;
      this.#name = name;
      return;
    }
    if (command !== null) this.#deps.runs.end(name, command);
    void this.#answerFromRecord(name, received);
  }

  /** Says how a command ended that this process does not have. */
  async #answerFromRecord(name: string, receivedBytes: number): Promise<void> {
    const { records, log } = this.#deps;
    const found = await records.resume(name, receivedBytes).catch((err: unknown) => {
      log.error({ err }, 'the record of a command was not read');
      return { kind: 'elsewhere' } as const;
    });
    if (found.kind !== 'ended') return this.#lost(LOSSES[found.kind]);
    this.send({ type: 'exit', exit_code: found.exitCode });
    this.close(CLOSE.ended);
  }

  /** The user's own, in this container. */
  #nameOf(run: string): string {
    return `${this.#caller.user.id} ${this.#deps.containerId} ${run}`;
  }

  #onFrame(frame: ExecClientFrame): void {
    if (frame.type === 'ping') this.#answer({ type: 'pong', t: frame.t });
    else if (frame.type !== 'start' && frame.type !== 'resume') this.#command?.onFrame(frame);
  }

  /** Handles frames in order of arrival, once the credential is known to be valid. */
  #use(then: () => void, bytes = 0): void {
    const taken = this.#registration.use(() => {
      if (!this.#isClosed) then();
    }, bytes);
    if (!taken) this.#cut(CLOSE.tooSlow);
  }

  #take(chunk: Buffer): void {
    if (this.#command?.take(chunk) === false) this.#cut('too much input');
  }

  #refuse(fields: FieldFaults): void {
    const [[name, fault] = ['', '']] = Object.entries(fields);
    this.send({ type: 'refused', code: 'validation_failed', error: `${name} ${fault}`, fields });
    this.close(CLOSE.ended);
  }

  #lost(code: DomainError['code']): void {
    this.send({ type: 'refused', code, error: this.#deps.wordsOf(code), fields: {} });
    this.close(CLOSE.ended);
  }

  /** Closes the socket and ends its command. */
  #cut(reason: SocketCloseReason): void {
    this.close(reason);
    if (this.#command?.leave(this)) this.#deps.runs.end(this.#name, this.#command);
  }

  #onClosed(code: number): void {
    clearTimeout(this.#late);
    this.#isClosed = true;
    this.#registration.end();
    const command = this.#command;
    if (command === null || !command.leave(this)) return;
    const { runs } = this.#deps;
    if (this.#name !== null && LOST_CODES.includes(code)) runs.wait(this.#name, command, this.#caller);
    else runs.end(this.#name, command);
  }
}
