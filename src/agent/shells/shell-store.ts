import {
  type Channel,
  type ChannelHandlers,
  type RequestOf,
  SESSION_KEPT_MS,
} from '../../protocol/agent/index.ts';
import { type HostUser, userEnvironment } from '../user-environment.ts';
import { Shell } from './shell.ts';

const MAX_SHELLS = 64;

/** The shells of this host, by name. They outlive connections and sessions of the service. */
export class ShellStore {
  readonly #user: HostUser;
  readonly #shells = new Map<string, Shell>();
  /** Shells that are ending, so no longer found by name. */
  readonly #ending = new Set<Shell>();
  readonly #unviewed = new Map<Shell, NodeJS.Timeout>();
  readonly #keptMs: number;

  /** A shell that nobody views ends after `keptMs`. */
  constructor(user: HostUser, keptMs: number = SESSION_KEPT_MS) {
    this.#user = user;
    this.#keptMs = keptMs;
  }

  /** Answers a channel of kind `shell`. */
  open(request: RequestOf<'shell'>, channel: Channel): ChannelHandlers {
    if (request.create && request.force_new) void this.#remove(request.shell);
    const living = this.#shells.get(request.shell);
    if (living !== undefined)
      return living.show(channel, request.after, { created: false, view: request.view });
    if (!request.create) return refuse(channel, 'no_such_shell');
    if (this.#shells.size + this.#ending.size >= MAX_SHELLS) return refuse(channel, 'too_many_shells');
    const { view } = request;
    try {
      return this.#start(request).show(channel, null, { created: true, view });
    } catch (error) {
      return refuse(channel, 'failed', error instanceof Error ? error.message : String(error));
    }
  }

  /** Answers `shells`. */
  list(channel: Channel): ChannelHandlers {
    const shells = [...this.#shells.values()].map((shell) => ({
      shell: shell.name,
      pid: shell.pid,
      cols: shell.cols,
      rows: shell.rows,
      viewers: shell.viewers,
      started_at: shell.startedAt,
      idle_ms: shell.idleMs,
    }));
    channel.finish({ type: 'shells', shells });
    return { reset: () => {} };
  }

  /** Answers `end_shell`, once it has ended. */
  end({ shell }: RequestOf<'end_shell'>, channel: Channel): ChannelHandlers {
    const removed = this.#remove(shell);
    const finish = (): void => channel.finish({ type: 'end_shell', ended: removed !== null });
    if (removed === null) finish();
    else void removed.then(finish);
    return { reset: () => {} };
  }

  /** Ends all of them. Resolves when they have ended. */
  async endAll(): Promise<void> {
    const all = new Set([...this.#shells.values(), ...this.#ending]);
    await Promise.all([...all].map((shell) => shell.end()));
  }

  #start({ shell: name, cols, rows, env }: RequestOf<'shell'>): Shell {
    const { shell: file, home: cwd } = this.#user;
    const options = { file, args: ['-l'], cwd, cols, rows, env: userEnvironment(this.#user, env) };
    const shell = new Shell(name, options, {
      viewed: (one, viewers) => this.#keep(one, viewers),
      ended: (one) => this.#forget(one),
    });
    this.#shells.set(name, shell);
    return shell;
  }

  #remove(name: string): Promise<void> | null {
    const shell = this.#shells.get(name);
    if (shell === undefined) return null;
    this.#shells.delete(name);
    this.#ending.add(shell);
    return shell.end();
  }

  #keep(shell: Shell, viewers: number): void {
    clearTimeout(this.#unviewed.get(shell));
    this.#unviewed.delete(shell);
    if (viewers > 0) return;
    const end = (): void => void shell.end();
    this.#unviewed.set(shell, setTimeout(end, this.#keptMs).unref());
  }

  #forget(shell: Shell): void {
    clearTimeout(this.#unviewed.get(shell));
    this.#unviewed.delete(shell);
    this.#ending.delete(shell);
    if (this.#shells.get(shell.name) === shell) this.#shells.delete(shell.name);
  }
}

function refuse(channel: Channel, code: string, message = ''): ChannelHandlers {
  channel.reset(code, message);
  return { reset: () => {} };
}
