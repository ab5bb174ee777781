import { coalesced } from '../../concurrency/coalesce.ts';
import type { CloseReason } from '../../domain/terminals/terminal.ts';
import type { Bus } from '../../ports/bus.ts';
import type { EventLog, StoredEvent } from '../../ports/event-log.ts';
import type { Logger } from '../../ports/logger.ts';
import { StorageTooSlow } from '../../ports/storage.ts';
import { subscribeToEventsAdded } from './event-messages.ts';

/** Somebody who is told of events as they come. Nothing that it is called with may throw. */
export type Subscriber<Frame> = {
  readonly userId: string;
  readonly send: (frame: Frame) => void;
  readonly close: (reason: CloseReason) => void;
};

export type Subscription<Frame> = {
  /** What came after the id that was asked for, up to where `send` goes on; null when that is not to be had any more. */
  readonly missed: Promise<readonly Frame[] | null>;
  readonly end: () => void;
};

export type EventFeedDeps<Frame> = {
  readonly events: EventLog;
  readonly bus: Bus;
  readonly log: Logger;
  /** Once for each event, however many receive it. */
  readonly encode: (event: StoredEvent) => Frame;
  readonly pollMs?: number;
  /** Each event that goes out, once. */
  readonly sent?: (event: StoredEvent) => void;
};

const POLL_MS = 2_000;
const PAGE = 500;
/** Who has missed more than this starts anew. */
export const MAX_BEHIND = 1_000;
/** What is held back by a transaction is asked for again so soon, and less and less often. */
const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 500;

/** The subscribers of this process by user. */
class Subscribers<Frame> {
  readonly #byUser = new Map<string, Set<Subscriber<Frame>>>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(one: Subscriber<Frame>): void {
    const same = this.#byUser.get(one.userId) ?? new Set();
    this.#byUser.set(one.userId, same.add(one));
    this.#count += 1;
  }

  /** Whether it was there. */
  remove(one: Subscriber<Frame>): boolean {
    const same = this.#byUser.get(one.userId);
    if (same?.delete(one) !== true) return false;
    if (same.size === 0) this.#byUser.delete(one.userId);
    this.#count -= 1;
    return true;
  }

  of(userId: string): Iterable<Subscriber<Frame>> {
    return this.#byUser.get(userId) ?? [];
  }

  all(): readonly Subscriber<Frame>[] {
    return [...this.#byUser.values()].flatMap((same) => [...same]);
  }
}

/**
 * Reads the events once for this process, as long as somebody subscribes, and hands each to all who may see it. Messages
 * of the bus say when to look; without them it looks every 2 s.
 */
export class EventFeed<Frame> {
  readonly #deps: EventFeedDeps<Frame>;
  readonly #subscribers = new Subscribers<Frame>();
  readonly #unsubscribe: () => void;
  /** Everything up to here was handed out. */
  #position = '';
  #timer: NodeJS.Timeout | undefined;
  #retries = 0;
  /**
   * Reads all that was committed before the call. Subscribers come after that: an earlier one could get twice what
   * another process has sent.
   */
  readonly ready = coalesced(() => this.#pass());

  constructor(deps: EventFeedDeps<Frame>) {
    this.#deps = deps;
    this.#unsubscribe = subscribeToEventsAdded(deps.bus, () => this.#wake());
  }

  /** From now on, and what was missed since `after`. Nothing comes between the two, and nothing twice. */
  subscribe(one: Subscriber<Frame>, after: string | null): Subscription<Frame> {
    if (this.#position === '') throw new Error('nobody may subscribe before the feed is ready');
    const upTo = this.#position;
    this.#subscribers.add(one);
    // What came while nobody listened was not read.
    if (this.#subscribers.count === 1) this.#wake();
    const missed = after === null ? Promise.resolve([]) : this.#missedBy(one.userId, after, upTo);
    return { missed, end: () => this.#remove(one) };
  }

  /** Closes them all, for whatever reason of the process's own, and reads no more. */
  close(reason: CloseReason): void {
    this.#unsubscribe();
    for (const one of this.#subscribers.all()) {
      this.#remove(one);
      one.close(reason);
    }
  }

  #remove(one: Subscriber<Frame>): void {
    if (this.#subscribers.remove(one) && this.#subscribers.count === 0) clearTimeout(this.#timer);
  }

  #wake(): void {
    if (this.#subscribers.count === 0) return;
    this.ready().catch((err: unknown) => this.#deps.log.warn({ err }, 'could not read events'));
  }

  async #pass(): Promise<void> {
    clearTimeout(this.#timer);
    let nextMs = this.#deps.pollMs ?? POLL_MS;
    try {
      const end = this.#subscribers.count === 0 ? await this.#deps.events.end() : null;
      if (end !== null && this.#subscribers.count === 0) this.#position = end;
      else {
        this.#retries = (await this.#readOn()) ? this.#retries + 1 : 0;
        if (this.#retries > 0) nextMs = retryMs(this.#retries);
      }
    } finally {
      if (this.#subscribers.count > 0) this.#timer = setTimeout(() => this.#wake(), nextMs).unref();
    }
  }

  /** Whether something is held back. */
  async #readOn(): Promise<boolean> {
    for (;;) {
      const { events: page, waiting } = await this.#deps.events.after(this.#position, PAGE);
      for (const event of page) {
        this.#hand(event);
        this.#position = event.id;
      }
      if (page.length < PAGE) return waiting;
    }
  }

  #hand(event: StoredEvent): void {
    const { encode, sent } = this.#deps;
    let frame: Frame | undefined;
    for (const userId of event.audience) {
      for (const one of this.#subscribers.of(userId)) {
        frame ??= encode(event);
        one.send(frame);
      }
    }
    if (frame !== undefined) sent?.(event);
  }

  async #missedBy(userId: string, after: string, upTo: string): Promise<readonly Frame[] | null> {
    const { events, encode } = this.#deps;
    try {
      if (!(await events.keepsSince(after))) return null;
      const missed = await events.seenBy(userId, { after, upTo }, MAX_BEHIND + 1);
      return missed.length > MAX_BEHIND ? null : missed.map(encode);
    } catch (error) {
      // The query would be as slow the next time, and the client would retry forever.
      if (error instanceof StorageTooSlow) return null;
      throw error;
    }
  }
}

const retryMs = (retries: number): number =>
  Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(retries - 1, 10));
