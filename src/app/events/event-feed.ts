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

export type EventFeed<Frame> = ReturnType<typeof eventFeed<Frame>>;

/**
 * Reads the events once for this process, as long as somebody subscribes, and hands each to all who may see it. Messages
 * of the bus say when to look; without them it looks every 2 s.
 */
export function eventFeed<Frame>({
  events,
  bus,
  log,
  encode,
  pollMs = POLL_MS,
  sent = () => {},
}: EventFeedDeps<Frame>) {
  const subscribers = new Map<string, Set<Subscriber<Frame>>>();
  /** Everything up to here was handed out. */
  let position = '';
  let count = 0;
  let timer: NodeJS.Timeout | undefined;
  let retries = 0;
  let running: Promise<void> | null = null;
  let again: Promise<void> | null = null;

  function hand(event: StoredEvent): void {
    let frame: Frame | undefined;
    for (const userId of event.audience) {
      for (const one of subscribers.get(userId) ?? []) {
        frame ??= encode(event);
        one.send(frame);
      }
    }
    if (frame !== undefined) sent(event);
  }

  /** Whether something is held back. */
  async function readOn(): Promise<boolean> {
    for (;;) {
      const { events: page, waiting } = await events.after(position, PAGE);
      for (const event of page) {
        hand(event);
        position = event.id;
      }
      if (page.length < PAGE) return waiting;
    }
  }

  async function pass(): Promise<void> {
    clearTimeout(timer);
    let nextMs = pollMs;
    try {
      const end = count === 0 ? await events.end() : null;
      if (end !== null && count === 0) position = end;
      else {
        retries = (await readOn()) ? retries + 1 : 0;
        if (retries > 0) nextMs = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(retries - 1, 10));
      }
    } finally {
      if (count > 0) timer = setTimeout(wake, nextMs).unref();
    }
  }

  /** Ends when everything has been read that was committed before the call. */
  function look(): Promise<void> {
    if (running === null) {
      running = pass().finally(() => {
        running = null;
      });
      return running;
    }
    again ??= running
      .catch(() => undefined)
      .then(() => {
        again = null;
        return look();
      });
    return again;
  }

  function wake(): void {
    if (count > 0) look().catch((err: unknown) => log.warn({ err }, 'could not read events'));
  }

  function add(one: Subscriber<Frame>): void {
    const same = subscribers.get(one.userId) ?? new Set();
    subscribers.set(one.userId, same.add(one));
    count += 1;
    // What came while nobody listened was not read.
    if (count === 1) wake();
  }

  function remove(one: Subscriber<Frame>): void {
    const same = subscribers.get(one.userId);
    if (same?.delete(one) !== true) return;
    if (same.size === 0) subscribers.delete(one.userId);
    count -= 1;
    if (count === 0) clearTimeout(timer);
  }

  async function missedBy(userId: string, after: string, upTo: string): Promise<readonly Frame[] | null> {
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

  const unsubscribe = subscribeToEventsAdded(bus, wake);
  return {
    /** Reads up to now. Only then may somebody subscribe, who else could get again what another process has sent. */
    ready: look,

    /** From now on, and what was missed since `after`. Nothing comes between the two, and nothing twice. */
    subscribe(one: Subscriber<Frame>, after: string | null): Subscription<Frame> {
      if (position === '') throw new Error('nobody may subscribe before the feed is ready');
      const upTo = position;
      add(one);
      const missed = after === null ? Promise.resolve([]) : missedBy(one.userId, after, upTo);
      return { missed, end: () => remove(one) };
    },

    /** Closes them all, for whatever reason of the process's own, and reads no more. */
    close(reason: CloseReason): void {
      unsubscribe();
      for (const same of [...subscribers.values()]) {
        for (const one of [...same]) {
          remove(one);
          one.close(reason);
        }
      }
    },
  };
}
