import type { TerminalStream } from './output/terminal-stream.ts';
import type { LiveTerminal } from './terminal-connections.ts';

type Connected = {
  readonly terminal: LiveTerminal;
  settle(stream: TerminalStream | null): void;
  fail(error: unknown): void;
  /** The program of its new stream has started, in this session. */
  started(muxSession: string | null): void;
  /** Settles when the stream that is opened for the socket is open, or has failed; null without one. */
  opening: Promise<void> | null;
};

/** This process's open sockets, each with its terminal, or with its wait for a stream. */
export class TerminalSockets {
  /** By id, the newest last. */
  readonly #connected = new Map<string, Connected>();

  /** The stream for the socket; null when it closed during the wait. Throws opening errors. */
  add(terminal: LiveTerminal, started: Connected['started']): Promise<TerminalStream | null> {
    const { promise, resolve, reject } = Promise.withResolvers<TerminalStream | null>();
    this.#connected.set(terminal.id, { terminal, settle: resolve, fail: reject, started, opening: null });
    return promise;
  }

  get(socket: string): Connected | undefined {
    return this.#connected.get(socket);
  }

  remove(socket: string): void {
    this.#connected.get(socket)?.settle(null);
    this.#connected.delete(socket);
  }

  terminals(): readonly LiveTerminal[] {
    return [...this.#connected.values()].map(({ terminal }) => terminal);
  }

  count(): number {
    return this.#connected.size;
  }
}
