import { type Caller, credentialId } from '../domain/caller.ts';
import type { Bus } from '../ports/bus.ts';
import type { Logger } from '../ports/logger.ts';
import { type Changed, onChanged } from './credential-news.ts';

/** An open socket, whose request was allowed long ago. */
export type LiveSocket = {
  readonly caller: Caller;
  /** Whether somebody whose credential still holds may stay, as they are now. */
  readonly mayStay: (now: Caller) => boolean;
  /** Ends it with 4001. Nothing is sent after it, and nothing that comes in is acted upon. */
  readonly close: () => void;
};

export type Registration = {
  /** Somebody did something, which keeps the session from idling out. */
  readonly used: () => void;
  /** The socket has closed. */
  readonly end: () => void;
};

export type LiveSocketsDeps = {
  readonly bus: Bus;
  /** The caller as the database has it now; null when the credential opens nothing any more. */
  readonly current: (caller: Caller, isUse: boolean) => Promise<Caller | null>;
  readonly log: Logger;
  /** How often all are looked at, for what no message told of. */
  readonly everyMs?: number;
};

/** `typed`: since the last look; `busy`: before it as well. */
type Entry = LiveSocket & { typed: boolean; busy: boolean };

const EVERY_MS = 5_000;
const RETRY_MS = 1_000;

export type LiveSockets = ReturnType<typeof liveSockets>;

/**
 * The open sockets of this process, by who opened them. They are closed when their session or API token ends or their
 * user is disabled, wherever that was done: at once when the message comes, else by the look every few seconds (R51). A
 * database that does not answer is no reason to end a terminal; it is asked again.
 */
export function liveSockets({ bus, current, log, everyMs = EVERY_MS }: LiveSocketsDeps) {
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
      const now = await current(first.caller, isUse);
      for (const entry of same) if (now === null || !entry.mayStay(now)) shut(entry);
    } catch (err) {
      log.warn({ err }, 'could not look whether a socket may stay open');
      setTimeout(look, RETRY_MS, same).unref();
    }
  }

  function shut(entry: Entry): void {
    if (entries.delete(entry)) entry.close();
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
      const entry: Entry = { ...socket, typed: false, busy: false };
      entries.add(entry);
      watch();
      look([entry]);
      return {
        // The first use after a while is told at once: a screen may be about to lock itself.
        used: () => {
          if (entry.typed) return;
          entry.typed = true;
          if (!entry.busy) look([entry]);
        },
        end: () => {
          entries.delete(entry);
          watch();
        },
      };
    },

    count: (): number => entries.size,
  };
}

/** Whether the change may be about this caller; null is any change at all. */
const concerns = ({ user, credential }: Caller, changed: Changed | null): boolean =>
  changed === null || (changed.kind === 'user' ? user.id : credentialId(credential)) === changed.id;
