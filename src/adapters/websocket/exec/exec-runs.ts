import type { AuthorizedConnections } from '../../../app/identity/auth/authorized-connections.ts';
import type { Caller } from '../../../domain/identity/caller.ts';
import type { ExecCommand } from './exec-command.ts';

/** How long a command waits for its client, as a terminal does. */
export const RESUME_WITHIN_MS = 60_000;
/** The most commands of a user that wait. */
export const MAX_WAITING = 16;

type Waiting = { readonly userId: string; readonly stop: () => void };

export type ExecRunsDeps = {
  readonly live: Pick<AuthorizedConnections, 'register'>;
  /** Whether the caller may still run commands. */
  readonly mayStay: (now: Caller) => boolean;
  readonly resumeWithinMs?: number;
};

/** The commands of this process of the service that their clients can resume, by name. */
export class ExecRuns {
  readonly #deps: ExecRunsDeps;
  readonly #byName = new Map<string, ExecCommand>();
  readonly #waiting = new Map<ExecCommand, Waiting>();
  #isShut = false;

  constructor(deps: ExecRunsDeps) {
    this.#deps = deps;
  }

  /** False for a name in use. */
  add(name: string, command: ExecCommand): boolean {
    if (this.#byName.has(name)) return false;
    this.#byName.set(name, command);
    return true;
  }

  /** A command whose client has returned; null for an unknown one. */
  find(name: string): ExecCommand | null {
    const command = this.#byName.get(name) ?? null;
    if (command !== null) this.#waiting.get(command)?.stop();
    return command;
  }

  /** Ends a command whose client has left, or has all of it. */
  end(name: string | null, command: ExecCommand): void {
    this.#waiting.get(command)?.stop();
    if (name !== null && this.#byName.get(name) === command) this.#byName.delete(name);
    command.end();
  }

  /** Keeps a command for its client, which has lost its line, while the credential is valid. */
  wait(name: string, command: ExecCommand, caller: Caller): void {
    const userId = caller.user.id;
    const others = [...this.#waiting.values()].filter((one) => one.userId === userId);
    if (this.#isShut || others.length >= MAX_WAITING) return void this.end(name, command);
    const { live, mayStay, resumeWithinMs = RESUME_WITHIN_MS } = this.#deps;
    const end = (): void => this.end(name, command);
    const timer = setTimeout(end, resumeWithinMs);
    const registration = live.register({ caller, mayStay, close: end });
    const stop = (): void => {
      clearTimeout(timer);
      registration.end();
      this.#waiting.delete(command);
    };
    this.#waiting.set(command, { userId, stop });
  }

  /** Ends all, tells the clients that are connected, and keeps no more: the service stops. */
  shut(): void {
    this.#isShut = true;
    for (const [name, command] of [...this.#byName]) {
      command.lose();
      this.end(name, command);
    }
  }
}
