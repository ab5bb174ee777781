/** Flat and small: ids and names. Receivers query the rest. */
export type BusMessage = { readonly [name: string]: string | number | boolean | null };

export type BusHandler = (message: BusMessage) => void;

/**
 * Tells other processes on the same database what to check. A message may be lost, repeated, or arrive before its row
 * is readable: it affects only how soon a change is noticed, never correctness.
 */
export interface Bus {
  /** False while messages may be missed: bypass caches that rely on them. */
  readonly connected: boolean;
  /**
   * Calls this process's handlers before returning, the others' soon. Call it after the commit. While sending is
   * impossible, messages wait. Throws only for a message above 7 KiB.
   */
  publish(topic: string, message: BusMessage): void;
  /**
   * `onGap` runs when messages may have been missed, before later ones are delivered: drop caches and check everything.
   * Handlers must not throw. Returns the unsubscribe function.
   */
  subscribe(topic: string, handler: BusHandler, onGap: () => void): () => void;
}
