import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import type { ReadStream } from 'node:tty';
import type { IPty } from '@lydell/node-pty';
import { terminalModule } from './terminal-module.ts';

export type PseudoTerminalOptions = {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** `xterm-256color` by default. */
  readonly term?: string;
  readonly cols: number;
  readonly rows: number;
};

export type PseudoTerminalEnd = { readonly exitCode: number | null; readonly signal: string | null };

/** After the program has exited, its terminal is read until nothing has come for this long. */
const QUIET_MS = 250;

const SIGNAL_NAMES = new Map(
  Object.entries(constants.signals).map(([name, number]) => [number, name.slice(3)]),
);

/** A program in a pseudo-terminal. Bytes pass unchanged. */
export class PseudoTerminal {
  readonly pid: number;
  readonly #pty: IPty;
  readonly #socket: ReadStream;
  /** The program has exited; what it wrote is still read. */
  #hasExited = false;
  #isOver = false;

  /** `ended` comes after the last `output`. Throws when the program cannot be started. */
  constructor(
    { file, args, env, cwd, term = 'xterm-256color', cols, rows }: PseudoTerminalOptions,
    on: { readonly output: (bytes: Buffer) => void; readonly ended: (end: PseudoTerminalEnd) => void },
  ) {
    this.#pty = terminalModule().spawn(file, [...args], {
      name: term,
      cwd,
      env,
      cols,
      rows,
      encoding: null,
    });
    this.pid = this.#pty.pid;
    this.#socket = socketOf(this.#pty);
    this.#readToTheEnd();
    this.#pty.onData((bytes) => on.output(bytes as unknown as Buffer));
    this.#pty.onExit(({ exitCode, signal = 0 }) => {
      this.#isOver = true;
      const name = signal === 0 ? null : (SIGNAL_NAMES.get(signal) ?? null);
      on.ended({ exitCode: signal === 0 ? exitCode : null, signal: name });
    });
  }

  /** `done` when the terminal has taken all of it. */
  write(bytes: Uint8Array, done: () => void): void {
    if (this.#isOver || this.#socket.destroyed) done();
    else (this.#socket as unknown as NodeJS.WritableStream).write(bytes, () => done());
  }

  /** Stops the program once the kernel's buffer is full. */
  pause(): void {
    if (!this.#hasExited && !this.#isOver) this.#pty.pause();
  }

  resume(): void {
    if (!this.#isOver) this.#pty.resume();
  }

  resize(cols: number, rows: number): void {
    if (this.#isOver) return;
    try {
      this.#pty.resize(cols, rows);
    } catch {
      // the program has just ended
    }
  }

  /** Sends a signal, such as INT, to the program in the foreground. */
  signal(name: string): void {
    kill(-foregroundGroup(this.pid), name);
  }

  /** Sends a signal to the program and its process group. */
  kill(name: 'HUP' | 'KILL'): void {
    if (this.#isOver) return;
    kill(-foregroundGroup(this.pid), name);
    kill(-this.pid, name);
  }

  /**
   * The package destroys its stream 200 ms after the exit, read or not. Output of a terminal that was paused, or of a
   * process that was busy for so long, would be lost: here it is read to its end first.
   */
  #readToTheEnd(): void {
    const socket = this.#socket;
    const destroy = socket.destroy.bind(socket);
    socket.destroy = () => {
      socket.destroy = destroy;
      this.#hasExited = true;
      // The event loop runs late timers before it reads. `setImmediate` runs after the next read.
      const timer = setTimeout(() => {
        let isQuiet = true;
        socket.once('data', () => {
          isQuiet = false;
        });
        setImmediate(() => isQuiet && destroy());
      }, QUIET_MS);
      socket.on('data', () => timer.refresh()).once('close', () => clearTimeout(timer));
      this.#pty.resume();
      return socket;
    };
  }
}

/** The package's stream, which alone says when input has been taken. */
function socketOf(pty: IPty): ReadStream {
  const { _socket: socket } = pty as unknown as { readonly _socket?: ReadStream };
  if (socket === undefined) throw new Error('this version of @lydell/node-pty is not supported');
  return socket;
}

/** The process group in the foreground of a terminal whose session this process leads; else its own. */
function foregroundGroup(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const group = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[5]);
    return group > 1 ? group : pid;
  } catch {
    return pid;
  }
}

function kill(pid: number, name: string): void {
  try {
    process.kill(pid, `SIG${name}`);
  } catch {
    // it is gone, or there is no such signal
  }
}
