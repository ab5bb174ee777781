/** Flat and small: ids and names. Whoever hears it looks the rest up. */
export type BusMessage = { readonly [name: string]: string | number | boolean | null };

export type BusHandler = (message: BusMessage) => void;

/**
 * Tells the other processes on the same database that there is something to look at. A message may be lost, come twice
 * or come while the row it is about cannot be read: correctness never depends on one, only how soon it is noticed.
 */
export interface Bus {
  /** False while messages of other processes may be missed: caches that count on them are to be passed by. */
  readonly connected: boolean;
  /**
   * To the handlers of this process before it returns, to those of the others soon. Call it after the commit. What
   * cannot be sent now is sent when that is possible again. Throws only when the message is above 7 KiB.
   */
  publish(topic: string, message: BusMessage): void;
  /**
   * `onGap` runs whenever messages may have been missed, before later ones are handed out: drop what was kept, look at
   * everything again. Handlers must not throw. Returns what undoes it.
   */
  subscribe(topic: string, handler: BusHandler, onGap: () => void): () => void;
}
