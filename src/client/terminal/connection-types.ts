import type { ReadyFrame, ServerFrame } from '../../protocol/terminal-frames.ts';
import type { Backoff } from '../backoff.ts';
import type { OpenSocket } from '../socket/socket.ts';
import type { LineTimes } from './line.ts';
import type { Resumed } from './resume.ts';
import type { EndReason, RefusalTrouble, Size, StreamPoint, Trouble } from './terminal-protocol.ts';

export type ConnectionState =
  /** `trouble`: what ended the try before. */
  | { readonly kind: 'connecting'; readonly trouble: Trouble }
  | { readonly kind: 'open' }
  /** The terminal is away; the next try is in `delayMs` from now. */
  | {
      readonly kind: 'waiting';
      readonly trouble: Trouble;
      readonly delayMs: number;
      readonly attempt: number;
    }
  | { readonly kind: 'over'; readonly why: EndReason; readonly exitCode: number | null };

/** The health of the connection while it is open or reconnecting. */
export type LineHealth = {
  /** Whether the service answers, as far as the page knows. */
  readonly answers: boolean;
  /** Typed characters whose arrival is not confirmed; 0 while the service answers. */
  readonly unsentCharacters: number;
};

export const HEALTHY: LineHealth = { answers: true, unsentCharacters: 0 };

/** A refusal that may pass. `forMs`: when the service says to try again; null if it does not say. */
export type Waiting = { readonly trouble: RefusalTrouble; readonly forMs: number | null };

/**
 * What the service says of a container whose terminal was refused. `ok`: trying again makes sense; `unlocked`: the
 * screen was locked until now, so a terminal that was closed on purpose opens again too.
 */
export type Probe =
  | 'ok'
  | 'unlocked'
  | 'unreachable'
  | Waiting
  | Extract<EndReason, 'unauthorized' | 'deleted' | 'stopped' | 'refused'>;

export type ConnectionDeps = {
  /** `ws:` or `wss:` with the host. */
  readonly origin: string;
  readonly openSocket: OpenSocket;
  /** A login token, or null when signing in is needed. Rejects while the service cannot be reached. */
  readonly token: () => Promise<string | null>;
  readonly probe: () => Promise<Probe>;
  readonly backoff?: Backoff;
  readonly times?: LineTimes;
};

/** Bytes come in order, each exactly once, except after a `resumed` other than `exact`. */
export type ConnectionListener = {
  state(state: ConnectionState): void;
  health(health: LineHealth): void;
  bytes(data: Uint8Array): void;
  resumed(how: Resumed, ready: ReadyFrame): void;
  frame(frame: ServerFrame): void;
};

export type ConnectionTarget = {
  readonly containerId: string;
  readonly connectionId: string;
  readonly size: Size;
  /** Where an earlier connection left off. */
  readonly resume?: StreamPoint;
  /** Whether the first connection forces a new multiplexer session. */
  readonly fresh?: boolean;
  /** Whether to watch without typing. */
  readonly watch?: boolean;
  /** Whether the service records it from the first byte on. */
  readonly record?: boolean;
};
