import { randomKey } from '../random-key.ts';
import type { CallOptions, Schemas } from '../request/api.ts';
import { BerthError } from '../request/errors.ts';
import type { Requester } from '../request/requester.ts';
import { Process, type ProcessLine } from './process.ts';

export type StartOptions = CallOptions & {
  readonly name?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** `/workspace` by default. */
  readonly cwd?: string;
  /** Whether it takes input. */
  readonly stdin?: boolean;
  /** Runs it in a terminal of this size: all its output is stdout. */
  readonly pty?: Schemas['PtySize'];
  readonly timeoutSeconds?: number;
  readonly keepOutputBytes?: number;
};

/** The processes of a container. */
export class Processes {
  readonly #requester: Requester;
  readonly #line: ProcessLine;
  readonly #path: string;

  constructor(line: ProcessLine, containerPath: string) {
    this.#line = line;
    this.#requester = line.requester;
    this.#path = `${containerPath}/processes`;
  }

  /** Starts a program, which runs on when this client leaves. A string is run by `sh -c`. Repeated safely. */
  async start(command: string | readonly string[], options: StartOptions = {}): Promise<Process> {
    const { name, env, cwd, stdin, pty, timeoutSeconds, keepOutputBytes, signal } = options;
    const words = typeof command === 'string' ? ['sh', '-c', command] : command;
    const body = {
      command: words,
      name,
      env,
      workdir: cwd,
      stdin,
      pty,
      timeout_seconds: timeoutSeconds,
      keep_output_bytes: keepOutputBytes,
    };
    const headers = { 'idempotency-key': randomKey() };
    const asked = { method: 'POST', body, headers, signal: signal ?? null };
    const info = await this.#requester.json<Schemas['Process']>(this.#path, asked);
    return new Process(this.#line, this.#path, info, true);
  }

  /** Running and recently ended ones, newest first. */
  async list({ signal }: CallOptions = {}): Promise<readonly Process[]> {
    const asked = { signal: signal ?? null };
    const { processes } = await this.#requester.json<Schemas['ProcessList']>(this.#path, asked);
    return processes.map((info) => new Process(this.#line, this.#path, info, false));
  }

  /** By id, or the newest with this name. Throws `process_not_found`. */
  async get(nameOrId: string, options: CallOptions = {}): Promise<Process> {
    const all = await this.list(options);
    const found = all.find(({ id, name }) => id === nameOrId || name === nameOrId);
    if (found === undefined) throw new BerthError(404, 'process_not_found', `no process is ${nameOrId}`);
    return found;
  }
}
