import { type Caller, credentialId } from '../../../domain/identity/caller.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { Logger } from '../../../ports/logger.ts';
import { type Changed, onChanged } from './credential-changes.ts';

/** An open socket, or an answer that is still being sent: its request was allowed long ago. */
export type LiveSocket = {
  readonly caller: Caller;
  /** Whether somebody whose credential still holds may stay, as they are now. */
  readonly mayStay: (now: Caller) => boolean;
  /** Ends it, a socket with 4001. Nothing is sent after it, and nothing that comes in is acted upon. */
  readonly close: () => void;
};

export type Registration = {
  /**
   * Somebody did something, which keeps the session from idling out. `then` is called at once, or, where the credential
   * may have ended by itself meanwhile, when that was looked at; never after the end. False when too many wait for that,
   * or too many bytes of theirs.
   */
  readonly use: (then: () => void, bytes?: number) => boolean;
  /** The socket has closed. */
  readonly end: () => void;
};

export type LiveSocketsDeps = {
  readonly bus: Bus;
  /** The caller as the database has it now; null when the credential opens nothing any more. */
  readonly current: (caller: Caller, isUse: boolean) => Promise<Present | null>;
  readonly log: Logger;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
  /** How often all are looked at, for what no message told of. */
  readonly everyMs?: number | undefined;
};

/** A caller whose credential holds, and for how long it holds if nobody changes or uses it. */
export type Present = { readonly caller: Caller; readonly holdsForMs: number };

/** `typed`: since the last look; `busy`: before it as well; `held`: what waits for the next one. */
type Entry = LiveSocket & {
  typed: boolean;
  busy: boolean;
  holdsUntilMs: number;
  held: (() => void)[];
  heldBytes: number;
};

const EVERY_MS = 5_000;
const RETRY_MS = 1_000;
const MAX_HELD = 256;
const MAX_HELD_BYTES = 1_048_576;

export type LiveSockets = ReturnType<typeof liveSockets>;

/**
 * The open sockets and answers of this process, by who opened them. They are closed when their session or API token ends or their
 * user is disabled, wherever that was done: at once when the message comes, else by the look every few seconds (R51). A
 * database that does not answer is no reason to end a terminal; it is asked again. What ends by the clock alone, as when a
 * screen locks itself, closes at the next look, and what is typed from that moment on waits for it.
 */
export function liveSockets({ bus, current, log, monotonicMs, everyMs = EVERY_MS }: LiveSocketsDeps) {
  const entries = new Set<Entry>();
  let timer: NodeJS.Timeout | undefined;

  const look = (at: readonly Entry[]): void => {
    const together = Map.groupBy(
      at.filter((entry) => entries.has(entry)),
      ({ caller }) => credentialId(caller.credential),
    );
    for (const same of together.values()) void judge(same);
  };

  async function judge(same: readonly Entry[]): Promise<void> {
    const [first] = same;
    if (first === undefined) return;
    const isUse = same.some(({ typed }) => typed);
    for (const entry of same) {
      entry.busy = entry.typed;
      entry.typed = false;
    }
    try {
      const askedMs = monotonicMs();
      const now = await current(first.caller, isUse);
      for (const entry of same) {
        if (now === null || !entry.mayStay(now.caller)) shut(entry);
        else letThrough(entry, askedMs + now.holdsForMs);
      }
    } catch (err) {
      for (const entry of same) entry.typed ||= entry.busy;
      log.warn({ err }, 'could not check whether a socket may stay open');
      setTimeout(look, RETRY_MS, same).unref();
    }
  }

  function shut(entry: Entry): void {
    drop(entry);
    if (entries.delete(entry)) entry.close();
  }

  function letThrough(entry: Entry, untilMs: number): void {
    entry.holdsUntilMs = untilMs;
    entry.heldBytes = 0;
    for (const then of entry.held.splice(0)) if (entries.has(entry)) then();
  }

  function use(entry: Entry, then: () => void, bytes: number): boolean {
    const waits = entry.held.length;
    const isFirst = !entry.typed;
    if (waits === 0 && monotonicMs() < entry.holdsUntilMs) {
      entry.typed = true;
      then();
      // The first use after a while is told at once: a screen may be about to lock itself.
      if (isFirst && !entry.busy) look([entry]);
      return true;
    }
    if (waits >= MAX_HELD || entry.heldBytes + bytes > MAX_HELD_BYTES) return false;
    entry.typed = true;
    entry.held.push(then);
    entry.heldBytes += bytes;
    if (waits === 0) look([entry]);
    return true;
  }

  const watch = (): void => {
    if (entries.size > 0) timer ??= setInterval(() => look([...entries]), everyMs).unref();
    else {
      clearInterval(timer);
      timer = undefined;
    }
  };
  onChanged(bus, (changed) => look([...entries].filter(({ caller }) => concerns(caller, changed))));

  return {
    /** From the upgrade on. It is looked at once more, as something may have ended since the request was let in. */
    register(socket: LiveSocket): Registration {
      const entry: Entry = { ...socket, typed: false, busy: false, holdsUntilMs: 0, held: [], heldBytes: 0 };
      entries.add(entry);
      watch();
      look([entry]);
      return {
        use: (then, bytes = 0) => entries.has(entry) && use(entry, then, bytes),
        end: () => {
          drop(entry);
          entries.delete(entry);
          watch();
        },
      };
    },

    /** Ends them all, for whatever reason of the process's own. */
    closeAll: (): void => [...entries].forEach(shut),

    count: (): number => entries.size,
  };
}

function drop(entry: Entry): void {
  entry.held.length = 0;
  entry.heldBytes = 0;
}

/** Whether the change may be about this caller; null is any change at all. */
const concerns = ({ user, credential }: Caller, changed: Changed | null): boolean =>
  changed === null || (changed.kind === 'user' ? user.id : credentialId(credential)) === changed.id;
