import { type ChildProcess, spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { Channel, ChannelHandlers, RequestOf } from '../../protocol/agent/index.ts';
import { ChannelWriter } from '../channel-writer.ts';
import { type HostUser, userEnvironment } from '../user-environment.ts';
import { runInTerminal } from './run-in-terminal.ts';

/** As a shell reports them. */
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
/** After a command has exited, its children's output is read until nothing has come for this long. */
const QUIET_MS = 250;

type End = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** Answers a channel of kind `exec`: runs the command as this user, in a process group of its own. */
export function runCommand(user: HostUser, request: RequestOf<'exec'>, channel: Channel): ChannelHandlers {
  const writer = new ChannelWriter(channel);
  const cwd = path.resolve(user.home, request.cwd ?? '');
  if (!isFolder(cwd)) {
    void fail(channel, writer, NOT_EXECUTABLE, `no such folder: ${cwd}`);
    return { reset: writer.wake, room: writer.wake };
  }
  const [file = ''] = request.command;
  const cannot = (error: NodeJS.ErrnoException): void => {
    const isMissing = error.code === 'ENOENT';
    const words = isMissing ? 'command not found' : 'cannot be started';
    void fail(channel, writer, isMissing ? NOT_FOUND : NOT_EXECUTABLE, `${file}: ${words}`);
  };
  const { terminal } = request;
  if (terminal !== null) {
    try {
      return runInTerminal({ user, request, cwd, terminal }, channel);
    } catch (error) {
      cannot(error as NodeJS.ErrnoException);
      return { reset: writer.wake, room: writer.wake };
    }
  }
  const child = start(request.command, cwd, userEnvironment(user, request.env));
  if (child instanceof Error) {
    cannot(child);
    return { reset: writer.wake, room: writer.wake };
  }
  const run = new Run(child, channel, writer);
  child.once('error', cannot).once('spawn', () => run.begin(request));
  return {
    data: (_stream, bytes) => run.input(bytes),
    ended: () => child.stdin?.end(),
    room: writer.wake,
    reset: () => {
      writer.wake();
      run.kill();
    },
  };
}

/** Most failures to start arrive as an event; some are thrown, such as too long arguments. */
function start(
  [file = '', ...args]: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv,
): ChildProcess | Error {
  try {
    return spawn(file, args, { cwd, env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

class Run {
  readonly #child: ChildProcess;
  readonly #channel: Channel;
  readonly #writer: ChannelWriter;
  #isLate = false;
  #isCut = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(child: ChildProcess, channel: Channel, writer: ChannelWriter) {
    this.#child = child;
    this.#channel = channel;
    this.#writer = writer;
    // a command need not read its input
    child.stdin?.on('error', () => {});
  }

  begin({ stdin, timeout_seconds: seconds }: RequestOf<'exec'>): void {
    const { pid = 0, stdout, stderr } = this.#child;
    this.#channel.accept({ type: 'exec', pid, terminal: false });
    if (!this.#channel.isOpen) this.kill();
    if (!stdin) this.#child.stdin?.end();
    if (seconds !== null) this.#timer = setTimeout(() => this.#timeUp(), seconds * 1_000);
    const exited = new Promise<End>((resolve) =>
      this.#child.once('exit', (code, signal) => resolve({ code, signal })),
    );
    const read = Promise.all([this.#copy(stdout, 1, exited), this.#copy(stderr, 2, exited)]);
    void Promise.all([exited, read]).then(([end]) => this.#finish(end));
  }

  /** Input is acknowledged when the command's pipe has taken it. */
  input(bytes: Uint8Array): void {
    const { stdin } = this.#child;
    const done = (): void => this.#channel.consumed(bytes.length);
    if (stdin === null || !stdin.writable) done();
    else stdin.write(bytes, done);
  }

  /** Ends everything that the command started. */
  kill(): void {
    clearTimeout(this.#timer);
    const { pid, stdout, stderr } = this.#child;
    stdout?.destroy();
    stderr?.destroy();
    if (pid !== undefined) killGroup(pid);
  }

  #timeUp(): void {
    this.#isLate = true;
    if (this.#child.pid !== undefined) killGroup(this.#child.pid);
  }

  async #copy(source: Readable | null, stream: 1 | 2, exited: Promise<End>): Promise<void> {
    if (source === null) return;
    let quiet: NodeJS.Timeout | undefined;
    // children in the background may keep the pipe open for ever
    void exited.then(() => {
      quiet = setTimeout(() => source.destroy(), QUIET_MS);
    });
    try {
      for await (const chunk of source) {
        clearTimeout(quiet);
        if (!(await this.#writer.write(chunk, stream))) break;
        quiet?.refresh();
      }
    } catch {
      // destroyed, or a broken pipe: the result says how the command ended
    }
    clearTimeout(quiet);
    this.#isCut ||= this.#isLate && !source.readableEnded;
  }

  #finish({ code, signal }: End): void {
    clearTimeout(this.#timer);
    this.#channel.finish({
      type: 'exec',
      exit_code: this.#isLate ? null : code,
      signal: signal === null ? null : signal.slice(3),
      timed_out: this.#isLate,
      cut: this.#isCut,
    });
  }
}

async function fail(channel: Channel, writer: ChannelWriter, code: number, words: string): Promise<void> {
  channel.accept({ type: 'exec', pid: 0, terminal: false });
  await writer.write(Buffer.from(`berth: ${words}\n`), 2);
  channel.finish({ type: 'exec', exit_code: code, signal: null, timed_out: false, cut: false });
}

const isFolder = (folder: string): boolean =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}
