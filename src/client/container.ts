import type { ContainerChange, Containers } from './groups/containers.ts';
import type { Snapshots } from './groups/snapshots.ts';
import { type RunOptions, type RunResult, run } from './inside/command.ts';
import { type ExecOptions, openExec } from './inside/exec.ts';
import { Files } from './inside/files.ts';
import { type LogOptions, logs } from './inside/logs.ts';
import type { RunningCommand } from './inside/running-command.ts';
import { openSsh, type SshStream } from './inside/ssh.ts';
import { Processes } from './processes/processes.ts';
import type { CallOptions, Schemas } from './request/api.ts';
import { hasStatus } from './request/errors.ts';
import type { Requester } from './request/requester.ts';
import type { OpenSocket } from './socket/socket.ts';
import { openTerminal } from './terminal/open-terminal.ts';
import type { Terminal, TerminalOptions } from './terminal/terminal.ts';

/** What containers are made of. */
export type Service = {
  readonly requester: Requester;
  readonly containers: Containers;
  readonly snapshots: Snapshots;
  readonly openSocket: () => Promise<OpenSocket>;
};

/** One container, with its state as last read. */
export class Container implements AsyncDisposable {
  readonly files: Files;
  readonly processes: Processes;
  readonly #service: Service;
  readonly #deleteAtEnd: boolean;
  #info: Schemas['Container'];

  constructor(service: Service, info: Schemas['Container'], deleteAtEnd = false) {
    this.#service = service;
    this.#info = info;
    this.files = new Files(service.requester, this.#path, service.openSocket);
    this.processes = new Processes(service, this.#path);
    this.#deleteAtEnd = deleteAtEnd;
  }

  /** The database id, which never changes. */
  get id(): string {
    return this.#info.db_id;
  }

  get name(): string {
    return this.#info.name;
  }

  get info(): Schemas['Container'] {
    return this.#info;
  }

  /** Reads its state. */
  async refresh(options?: CallOptions): Promise<Schemas['Container']> {
    this.#info = await this.#service.containers.get(this.id, options);
    return this.#info;
  }

  async start(options?: CallOptions): Promise<void> {
    await this.#service.containers.start(this.id, options);
    await this.refresh(options);
  }

  async stop(options?: CallOptions): Promise<void> {
    await this.#service.containers.stop(this.id, options);
    await this.refresh(options);
  }

  /** Changes the name or limits; what is not given stays. New limits restart the container. */
  async update(change: ContainerChange, options?: CallOptions): Promise<void> {
    await this.#service.containers.update(this.id, change, options);
    await this.refresh(options);
  }

  /** It can be restored for some days. */
  async delete(options?: CallOptions): Promise<void> {
    await this.#service.containers.delete(this.id, options);
  }

  /**
   * Runs a command to its end; a string is run by `sh -c`. Throws `command_outcome_unknown` when the connection broke:
   * it may have been carried out.
   */
  run(command: string | readonly string[], options?: RunOptions): Promise<RunResult> {
    return run(this.#service.requester, `${this.#path}/exec`, command, options);
  }

  /**
   * Starts a command whose input and output pass as bytes while it runs; a string is run by `sh -c`. It ends with this
   * client's connection; a process outlives it.
   */
  async exec(command: string | readonly string[], options?: ExecOptions): Promise<RunningCommand> {
    const { requester, openSocket } = this.#service;
    return await openExec(requester, await openSocket(), `${this.#path}/exec`, command, options);
  }

  /** The TCP ports on which its programs listen. */
  async ports({ signal }: CallOptions = {}): Promise<Schemas['Ports']['ports']> {
    const asked = { signal: signal ?? null };
    const { ports } = await this.#service.requester.json<Schemas['Ports']>(`${this.#path}/ports`, asked);
    return ports;
  }

  /** The output of its first program, in pieces of text. */
  logs(options?: LogOptions): AsyncGenerator<string, void, undefined> {
    return logs(this.#service.requester, this.#path, options);
  }

  /** Opens a terminal. Resolves when its shell is there. */
  async terminal(options: TerminalOptions = {}): Promise<Terminal> {
    const { requester, openSocket } = this.#service;
    return await openTerminal(requester, await openSocket(), this.id, options);
  }

  /** When and why it ends by itself. */
  lifetime(options?: CallOptions): Promise<Schemas['ExplainedLifetime']> {
    return this.#service.containers.lifetime(this.id, options);
  }

  /** Changes when it ends by itself; absent fields stay, `null` removes an end. */
  setLifetime(
    change: Schemas['LifetimeRequest'],
    options?: CallOptions,
  ): Promise<Schemas['ExplainedLifetime']> {
    return this.#service.containers.setLifetime(this.id, change, options);
  }

  /** Nothing ends it by itself for so many seconds from now. */
  keep(seconds: number, options?: CallOptions): Promise<Schemas['ExplainedLifetime']> {
    return this.setLifetime({ keep_seconds: seconds }, options);
  }

  /** Copies it with its volume; a running one is paused meanwhile. The snapshot may still be `creating`. */
  snapshot(body: Schemas['SnapshotRequest'], options?: CallOptions): Promise<Schemas['Snapshot']> {
    return this.#service.snapshots.take(this.id, body, options);
  }

  /**
   * Makes containers with its current files. `await using` deletes ephemeral ones at the end of its block. They may
   * still be `creating`.
   */
  async fork(body: Schemas['ForkRequest'] = {}, options?: CallOptions): Promise<Container[]> {
    const { containers } = await this.#service.snapshots.fork(this.id, body, options);
    return containers.map((info) => new Container(this.#service, info, body.ephemeral ?? false));
  }

  /** Connects to its SSH server: the bytes of an SSH connection, which needs no key. */
  async ssh(): Promise<SshStream> {
    const { requester, openSocket } = this.#service;
    return await openSsh(requester, await openSocket(), `${this.#path}/ssh`);
  }

  stats(options?: CallOptions) {
    return this.#service.containers.stats(this.id, options);
  }

  /** What would be lost if it were recreated. */
  changes(options?: CallOptions) {
    return this.#service.containers.changes(this.id, options);
  }

  /**
   * Deletes a container that was created as `ephemeral` or with `deleteAtEnd`, unless it is gone; leaves others as they
   * are.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#deleteAtEnd) return;
    await this.delete().catch((failure: unknown) => {
      if (!hasStatus(failure, 404)) throw failure;
    });
  }

  get #path(): string {
    return `/api/containers/${encodeURIComponent(this.id)}`;
  }
}
