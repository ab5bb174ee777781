import type { ContainerEvent } from '../domain/events.ts';

/** An event with its place in the whole stream. */
export type StoredEvent = Omit<ContainerEvent, 'ownerId'> & {
  /** Opaque, and the same for everybody. */
  readonly id: string;
  readonly time: Date;
  /** The users who may see it. */
  readonly audience: readonly string[];
};

/** A part of the stream: what comes after one position, up to and with another. */
export type EventRange = { readonly after: string; readonly upTo: string };

/**
 * Events are rows, written in the transaction of the change that they tell of. They are read in one order that is the
 * same for every reader, and in which the events of a container are in the order of its changes, as long as each
 * transaction holds the container's row before it writes anything. What was read once is followed by everything that
 * is committed later, however long its transaction took.
 */
export interface EventLog {
  append(event: ContainerEvent): Promise<void>;
  /** The position of now: whatever is committed later comes after it. */
  end(): Promise<string>;
  /**
   * What comes after a position, oldest first. `waiting`: there is more, which cannot be handed out before another
   * transaction has ended.
   */
  after(
    position: string,
    limit: number,
  ): Promise<{ readonly events: readonly StoredEvent[]; readonly waiting: boolean }>;
  /** The first of a part that this user may see now. */
  seenBy(userId: string, range: EventRange, limit: number): Promise<readonly StoredEvent[]>;
  /** Whether the id is that of an event since which everything is kept. */
  keepsSince(id: string): Promise<boolean>;
  /** Removes what is too old to be asked for. */
  sweep(): Promise<void>;
}
