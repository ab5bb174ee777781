import type { ContainerEvent } from '../domain/events.ts';

/** An event and its position in the stream. */
export type StoredEvent = Omit<ContainerEvent, 'ownerId' | 'audience'> & {
  /** Opaque, and the same at every process. */
  readonly id: string;
  readonly time: Date;
  /** The users who may see it. */
  readonly audience: readonly string[] | 'everybody';
  /** Not for a credential without the scope `admin`, even an administrator's. */
  readonly isForAdministrators: boolean;
};

/** A part of the stream: after one position, up to and including another. */
export type EventRange = { readonly after: string; readonly upTo: string };

export type EventPage = {
  readonly events: readonly StoredEvent[];
  /** More exist, but an earlier transaction has not ended. */
  readonly waiting: boolean;
  /** The event at the position is not here: it was swept with one after it, or this server never had it. */
  readonly isGone: boolean;
};

/**
 * Events are rows, written in the transaction of their change and read in one order for all readers. A container's
 * events are in the order of its changes, as long as each transaction locks the container's row before it writes.
 * Everything committed after a read comes after what was read, however long its transaction took.
 */
export interface EventLog {
  append(event: ContainerEvent): Promise<void>;
  /** The present end: everything committed later comes after it. */
  end(): Promise<string>;
  /** The events after a position, oldest first. */
  after(position: string, limit: number): Promise<EventPage>;
  /** The first events of a part that this user may see now. */
  seenBy(userId: string, range: EventRange, limit: number): Promise<readonly StoredEvent[]>;
  /** Whether every event since this id is still kept. */
  keepsSince(id: string): Promise<boolean>;
  /** Removes events that are too old to be requested, except the last of them: readers continue from its position. */
  sweep(): Promise<void>;
}
