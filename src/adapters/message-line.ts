import { randomUUID } from 'node:crypto';
import { within } from '../concurrency/timeout.ts';
import { ANSWER_WITHIN_MS, type Connection, type ConnectionLog, keepConnected } from './kept-connection.ts';

/** Over it payloads reach every process, this one included, in the order in which they are sent. */
export type LineConnection = Connection & {
  /** Rejects unless all are on their way. */
  send(payloads: readonly string[]): Promise<unknown>;
};

export type ConnectionEvents = {
  readonly onPayload: (payload: string) => void;
  readonly onLost: () => void;
};

export type LineEvents = {
  /** It listens, for the first time or again; earlier payloads may be lost. */
  readonly onConnect: () => void;
  readonly onPayload: (payload: string) => void;
};

export type MessageLine = {
  readonly connected: boolean;
  /** Rejects when that is impossible now. */
  send(payloads: readonly string[]): Promise<void>;
  close(): Promise<void>;
};

export type LineOptions = {
  /** Opens a connection that listens. */
  readonly open: (events: ConnectionEvents) => Promise<LineConnection>;
  /** Why a connection that opens may hear nothing. */
  readonly whenDeaf: string;
  readonly log: ConnectionLog;
};

type Listening = LineConnection & { listen(onPayload: (payload: string) => void): void };

/** A line that reconnects by itself. */
export function messageLine({ open, whenDeaf, log }: LineOptions, events: LineEvents): MessageLine {
  const kept = keepConnected<Listening>({
    open: async (onLost) => {
      let handle = (_: string): void => undefined;
      const connection = await open({ onLost, onPayload: (payload) => handle(payload) });
      const listen = (onPayload: typeof handle): void => {
        handle = onPayload;
      };
      try {
        await hearItself(connection, listen, whenDeaf);
      } catch (error) {
        await connection.hangUp();
        throw error;
      }
      // What arrives before `onConnect` counts as lost, so that no later message overtakes it.
      listen(() => undefined);
      return { ...connection, listen };
    },
    onOpen: ({ listen }) => {
      events.onConnect();
      listen(events.onPayload);
    },
    log,
    words: {
      failed: 'cannot listen for messages from other processes',
      lost: 'the connection to other processes was lost',
      over: 'messages from other processes arrive again',
    },
  });
  return {
    get connected() {
      return kept.current !== null;
    },
    async send(payloads) {
      if (kept.current === null) throw new Error('not connected');
      await kept.current.send(payloads);
    },
    close: kept.close,
  };
}

/** A line may open without carrying anything, for example behind a pooler. */
async function hearItself(
  connection: LineConnection,
  listen: Listening['listen'],
  whenDeaf: string,
): Promise<void> {
  const word = JSON.stringify({ probe: randomUUID() });
  const { promise: heard, resolve } = Promise.withResolvers<true>();
  listen((payload) => {
    if (payload === word) resolve(true);
  });
  const both = Promise.all([heard, connection.send([word])]);
  if ((await within(ANSWER_WITHIN_MS, both, null)) === null) throw new Error(whenDeaf);
}
