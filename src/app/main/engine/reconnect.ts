import type { Logger } from '../../../ports/logger.ts';
import { sparingLog } from '../process/sparing-log.ts';

const AGAIN_MS = 5_000;

export type Reconnection = {
  /** What is connected, for the log. */
  readonly name: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly againMs?: number | undefined;
  /** Returns the function that ends the watch. Throws while it is not usable. */
  readonly connect: () => Promise<() => void>;
  readonly onFault: (error: unknown) => void;
};

/** A connection that is tried again every few seconds until it succeeds. */
export function reconnecting({ name, log, signal, againMs, connect, onFault }: Reconnection) {
  const connectLog = sparingLog(log);
  let timer: NodeJS.Timeout | undefined;
  let connecting: Promise<void> = Promise.resolve();
  let unwatch = (): void => {};
  let isConnected = false;
  const attempt = async (): Promise<void> => {
    try {
      unwatch = await connect();
      isConnected = true;
      connectLog.over(`${name} is in use`);
    } catch (err) {
      connectLog.error({ err }, `${name} is not usable`);
      onFault(err);
      if (signal.aborted) return;
      timer = setTimeout(() => {
        connecting = attempt();
      }, againMs ?? AGAIN_MS);
    }
  };
  return {
    /** Resolves after the first attempt. Throws when the signal came first. */
    async begin(): Promise<void> {
      connecting = attempt();
      await connecting;
      signal.throwIfAborted();
    },
    /** Disconnects and connects again. Does nothing while connecting. */
    async reconnect(): Promise<void> {
      if (!isConnected || signal.aborted) return;
      isConnected = false;
      unwatch();
      unwatch = () => {};
      connecting = attempt();
      await connecting;
    },
    async stop(): Promise<void> {
      clearTimeout(timer);
      await connecting;
      unwatch();
    },
  };
}
