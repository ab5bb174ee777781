import { coalesced } from '../../concurrency/coalesce.ts';
import type { CloseReason } from '../../domain/terminals/terminal.ts';
import type { Bus } from '../../ports/bus.ts';
import type { EventLog, StoredEvent } from '../../ports/event-log.ts';
import type { Logger } from '../../ports/logger.ts';
import { StorageTooSlow } from '../../ports/storage.ts';
import { subscribeToEventsAdded } from './event-messages.ts';

/** Receives events. Its functions must not throw. */
export type Subscriber<Frame> = {
  readonly userId: string;
  /** Whether this subscriber, among all of its user, gets the events of that container. */
  readonly reaches: (dbId: string) => boolean;
  /** Whether it may get, now, what is for administrators, if its user is one. */
  readonly mayAdminister: () => boolean;
  readonly send: (frame: Frame) => void;
  /** It has missed events. */
  readonly resync: () => void;
  readonly close: (reason: CloseReason) => void;
};

export type Subscription<Frame> = {
  /** The events after the requested id, up to where `send` continues; null when they are unavailable. */
  readonly missed: Promise<readonly Frame[] | null>;
  readonly end: () => void;
};

export type EventFeedDeps<Frame> = {
  readonly events: EventLog;
  readonly bus: Bus;
  readonly log: Logger;
  /** Called once per event, for all receivers. */
  readonly encode: (event: StoredEvent) => Frame;
  readonly pollMs?: number;
  /** Called once per sent event. */
  readonly sent?: (event: StoredEvent) => void;
};

const POLL_MS = 2_000;
const PAGE = 500;
/** A subscriber that has missed more must resync. */
export const MAX_BEHIND = 1_000;
/** The first interval of retries while a transaction delays events; later ones grow. */
const FIRST_RETRY_MS = 5;
const LONGEST_RETRY_MS = 500;

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

  /** Returns whether it was subscribed. */
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
 * Reads each event once for this process while it has subscribers, and hands it to those who may see it. Bus messages
 * trigger reads; without them it reads every 2 s.
 */
export class EventFeed<Frame> {
  readonly #deps: EventFeedDeps<Frame>;
  readonly #subscribers = new Subscribers<Frame>();
  readonly #unsubscribe: () => void;
  /** Everything up to here was sent. */
  #position = '';
  #timer: NodeJS.Timeout | undefined;
  #retries = 0;
  /**
   * Reads all that was committed before the call. Subscribe afterwards: an earlier subscriber could get events twice
   * that another process has sent.
   */
  readonly ready = coalesced(() => this.#pass());

  constructor(deps: EventFeedDeps<Frame>) {
    this.#deps = deps;
    this.#unsubscribe = subscribeToEventsAdded(deps.bus, () => this.#wake());
  }

  /** Subscribes, and reads what was missed since `after`, without gap or repeat. */
  subscribe(one: Subscriber<Frame>, after: string | null): Subscription<Frame> {
    if (this.#position === '') throw new Error('nobody may subscribe before the feed is ready');
    const upTo = this.#position;
    this.#subscribers.add(one);
    // events without subscribers were not read
    if (this.#subscribers.count === 1) this.#wake();
    const missed = after === null ? Promise.resolve([]) : this.#missedBy(one, after, upTo);
    return { missed, end: () => this.#remove(one) };
  }

  /** Closes all subscribers and stops reading. */
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

  /** Returns whether events are delayed. */
  async #readOn(): Promise<boolean> {
    for (;;) {
      const { events: page, waiting, isGone } = await this.#deps.events.after(this.#position, PAGE);
      if (isGone && (await this.#startOver())) return false;
      for (const event of page) {
        this.#hand(event);
        this.#position = event.id;
      }
      if (page.length < PAGE) return waiting;
    }
  }

  /**
   * After a failover, the server may lack the last events and reuse their positions. Returns whether subscribers must
   * resync.
   */
  async #startOver(): Promise<boolean> {
    const end = await this.#deps.events.end();
    if (end === this.#position) return false;
    this.#position = end;
    for (const one of this.#subscribers.all()) one.resync();
    return true;
  }

  #hand(event: StoredEvent): void {
    const { encode, sent } = this.#deps;
    let frame: Frame | undefined;
    for (const one of this.#receivers(event)) {
      if (!mayGet(one, event)) continue;
      frame ??= encode(event);
      one.send(frame);
    }
    if (frame !== undefined) sent?.(event);
  }

  #receivers({ audience }: StoredEvent): readonly Subscriber<Frame>[] {
    if (audience === 'everybody') return this.#subscribers.all();
    return audience.flatMap((userId) => [...this.#subscribers.of(userId)]);
  }

  async #missedBy(one: Subscriber<Frame>, after: string, upTo: string): Promise<readonly Frame[] | null> {
    const { events, encode } = this.#deps;
    try {
      if (!(await events.keepsSince(after))) return null;
      const missed = await events.seenBy(one.userId, { after, upTo }, MAX_BEHIND + 1);
      return missed.length > MAX_BEHIND ? null : missed.filter((event) => mayGet(one, event)).map(encode);
    } catch (error) {
      // The query would stay slow, and the client would retry forever.
      if (error instanceof StorageTooSlow) return null;
      throw error;
    }
  }
}

const mayGet = (
  { reaches, mayAdminister }: Pick<Subscriber<never>, 'reaches' | 'mayAdminister'>,
  { dbId, isForAdministrators }: StoredEvent,
): boolean => reaches(dbId) && (!isForAdministrators || mayAdminister());

const retryMs = (retries: number): number =>
  Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(retries - 1, 10));
