import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../ports/logger.ts';

const FIRST_RETRY_MS = 50;
const LONGEST_RETRY_MS = 2_000;
const HEARTBEAT_MS = 2_000;
/** A peer that is silent for longer is lost. */
export const ANSWER_WITHIN_MS = 3_000;

/** `over`: earlier faults are over. */
export type ConnectionLog = Logger & { readonly over?: (message: string) => void };

export type Connection = {
  /** Rejects when the peer does not answer in time. */
  ask(): Promise<unknown>;
  /** Ends it, without waiting for a silent peer. */
  hangUp(): Promise<void>;
};

export type KeptOptions<C extends Connection> = {
  /** Opens one, or rejects, within seconds. `onLost`: it has ended. */
  readonly open: (onLost: () => void) => Promise<C>;
  readonly onOpen: (connection: C) => void;
  readonly log: ConnectionLog;
  /** Logged at each attempt that fails, at each loss, and when it is over. */
  readonly words: { readonly failed: string; readonly lost: string; readonly over: string };
};

export type Kept<C> = {
  /** null while there is none. */
  readonly current: C | null;
  close(): Promise<void>;
};

/**
 * One connection for the life of the process. It reconnects by itself, with growing pauses; a silently lost one is
 * noticed within five seconds.
 */
export function keepConnected<C extends Connection>({ open, onOpen, log, words }: KeptOptions<C>): Kept<C> {
  const closing = new AbortController();
  let current: C | null = null;

  async function keep(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; failures += 1) {
      const { promise: lost, resolve: onLost } = Promise.withResolvers<void>();
      const connection = await open(onLost).catch((err: unknown) => {
        log.warn({ err }, words.failed);
        return null;
      });
      if (connection !== null) {
        failures = 0;
        await use(connection, lost);
      }
      await pause(failures);
    }
  }

  async function use(connection: C, lost: Promise<void>): Promise<void> {
    current = connection;
    onOpen(connection);
    log.over?.(words.over);
    const { promise: over, resolve: onOver } = Promise.withResolvers<void>();
    const beat = setInterval(() => void connection.ask().catch(() => onOver()), HEARTBEAT_MS);
    const onClose = (): void => onOver();
    closing.signal.addEventListener('abort', onClose, { once: true });
    if (!closing.signal.aborted) await Promise.race([lost, over]);
    closing.signal.removeEventListener('abort', onClose);
    clearInterval(beat);
    current = null;
    await connection.hangUp();
    if (!closing.signal.aborted) log.warn(words.lost);
  }

  async function pause(failures: number): Promise<void> {
    const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(failures, 10));
    await delay(longest * (0.5 + Math.random() / 2), null, { signal: closing.signal }).catch(() => undefined);
  }

  const running = keep();
  return {
    get current() {
      return current;
    },
    async close() {
      closing.abort();
      await running;
    },
  };
}
