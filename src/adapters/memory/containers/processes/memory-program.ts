import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ProcessRequest, PtySize } from '../../../../domain/containers/processes/process-request.ts';
import { type ProcessSignal, SIGNALS } from '../../../../domain/containers/processes/signals.ts';
import type { OutputName } from '../../../../ports/containers/processes/container-processes.ts';

/** Output of which the oldest is dropped. */
type Kept = { bytes: Buffer; firstKept: number };

/** A program of a few that run in memory, with its output and its input. */
export class MemoryProgram {
  readonly pid: number;
  readonly output: Readonly<Record<OutputName, Kept>> = {
    stdout: { bytes: Buffer.alloc(0), firstKept: 0 },
    stderr: { bytes: Buffer.alloc(0), firstKept: 0 },
  };
  exit: { readonly exitCode: number; readonly isTimedOut: boolean; readonly at: Date } | null = null;
  inputOffset = 0;
  /** How much of its input each writer has sent, from what there was when it came. */
  readonly writers = new Map<string, number>();
  isInputClosed = false;
  readonly takesInput: boolean;
  /** Whether lines are echoed, and end, as in a terminal. */
  terminal: PtySize | null;
  readonly #keptBytes: number;
  readonly #ending = new AbortController();
  readonly #waiting = new Set<() => void>();
  #unread: Buffer[] = [];

  constructor(pid: number, request: ProcessRequest) {
    this.pid = pid;
    this.takesInput = request.takesInput;
    this.terminal = request.terminal;
    this.#keptBytes = request.keptBytes;
    this.isInputClosed = !request.takesInput;
    void this.#run(request);
  }

  /** Resolves at the next output, input or end. */
  change(signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      this.#waiting.add(resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
    });
  }

  write(data: Buffer): void {
    this.inputOffset += data.length;
    if (this.terminal !== null) this.#print('stdout', data);
    this.#unread.push(data);
    this.#changed();
  }

  closeInput(): void {
    this.isInputClosed = true;
    this.#changed();
  }

  /** STOP and CONT have no effect here. */
  signal(signal: ProcessSignal): void {
    if (signal !== 'STOP' && signal !== 'CONT') this.#end(128 + SIGNALS[signal], false);
  }

  async #run({ command, env, workdir, timeoutSeconds }: ProcessRequest): Promise<void> {
    const [shell, option, line = ''] = command;
    const [name = '', ...args] = shell === 'sh' && option === '-c' ? line.split(' ') : command;
    if (timeoutSeconds !== null) void this.#limit(timeoutSeconds);
    const given: Readonly<Record<string, string>> = { HOME: '/workspace', ...env };
    switch (path.posix.basename(name)) {
      case 'echo':
        this.#print('stdout', `${args.join(' ')}\n`);
        return this.#end(0, false);
      case 'pwd':
        this.#print('stdout', `${path.posix.resolve('/workspace', workdir ?? '')}\n`);
        return this.#end(0, false);
      case 'env':
        for (const [variable, value] of Object.entries(given))
          this.#print('stdout', `${variable}=${value}\n`);
        return this.#end(0, false);
      case 'stty':
        this.#print('stdout', `${this.terminal?.rows} ${this.terminal?.cols}\n`);
        return this.#end(0, false);
      case 'cat':
        return await this.#copyInput();
      case 'head':
        this.#print('stdout', Buffer.alloc(Number(args[1])));
        return this.#end(0, false);
      case 'sleep':
        await delay(Number(args[0]) * 1000, null, { signal: this.#ending.signal, ref: false }).catch(
          () => null,
        );
        return this.#end(0, false);
      case 'false':
        return this.#end(1, false);
      default:
        this.#print('stderr', `sh: ${name}: not found\n`);
        return this.#end(127, false);
    }
  }

  async #copyInput(): Promise<void> {
    while (this.exit === null) {
      const data = this.#unread.shift();
      if (data !== undefined) this.#print('stdout', data);
      else if (this.isInputClosed) return this.#end(0, false);
      else await this.change();
    }
  }

  async #limit(seconds: number): Promise<void> {
    await delay(seconds * 1000, null, { signal: this.#ending.signal, ref: false }).catch(() => null);
    this.#end(128 + SIGNALS.TERM, true);
  }

  #print(stream: OutputName, data: string | Buffer): void {
    const hasTerminal = this.terminal !== null;
    const kept = this.output[hasTerminal ? 'stdout' : stream];
    const printed = hasTerminal ? String(data).replaceAll('\n', '\r\n') : data;
    const all = Buffer.concat([kept.bytes, Buffer.from(printed)]);
    const dropped = Math.max(0, all.length - this.#keptBytes);
    kept.bytes = all.subarray(dropped);
    kept.firstKept += dropped;
    this.#changed();
  }

  #end(exitCode: number, isTimedOut: boolean): void {
    if (this.exit !== null) return;
    this.exit = { exitCode, isTimedOut, at: new Date() };
    this.#ending.abort();
    this.#changed();
  }

  #changed(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}
