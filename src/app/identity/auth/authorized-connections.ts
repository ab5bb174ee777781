import { type Caller, credentialId } from '../../../domain/identity/caller.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { Logger } from '../../../ports/logger.ts';
import { type CredentialChange, subscribeToCredentialChanges } from './credential-changes.ts';

/** An open socket, or an answer that is still being sent: its request was allowed long ago. */
export type AuthorizedConnection = {
  readonly caller: Caller;
  /** Whether the caller, whose credential is still valid, may stay. */
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

export type AuthorizedConnectionsDeps = {
  readonly bus: Bus;
  /** The caller as the database has it now; null when the credential opens nothing any more. */
  readonly current: (caller: Caller, isUse: boolean) => Promise<Present | null>;
  readonly log: Logger;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
  /** How often all are rechecked, in case a message was lost. */
  readonly everyMs?: number | undefined;
};

/** A caller whose credential holds, and for how long it holds if it is neither changed nor used. */
export type Present = { readonly caller: Caller; readonly holdsForMs: number };

/** `usedBefore`: used in the interval before that as well; `pendingInput`: input waiting for the next check. */
type Entry = AuthorizedConnection & {
  usedSinceCheck: boolean;
  usedBefore: boolean;
  holdsUntilMs: number;
  pendingInput: (() => void)[];
  pendingBytes: number;
};

const EVERY_MS = 5_000;
const RETRY_MS = 1_000;
const MAX_PENDING = 256;
const MAX_PENDING_BYTES = 1_048_576;

export type AuthorizedConnections = ReturnType<typeof authorizedConnections>;

type OpenConnections = {
  readonly deps: AuthorizedConnectionsDeps;
  readonly entries: Set<Entry>;
  timer: NodeJS.Timeout | undefined;
};

/**
 * The open sockets and answers of this process, by who opened them. They are closed when their session or API token ends
 * or their user is disabled, wherever that was done: at once when the message comes, else by the check every few seconds.
 * A database that does not answer is no reason to end a terminal; it is asked again. What ends by the clock alone, as
 * when a screen locks itself, closes at the next check, and what is typed from that moment on waits for it.
 */
export function authorizedConnections(deps: AuthorizedConnectionsDeps) {
  const entries = new Set<Entry>();
  const open: OpenConnections = { deps, entries, timer: undefined };
  subscribeToCredentialChanges(deps.bus, (changed) =>
    recheck(
      open,
      [...entries].filter(({ caller }) => concerns(caller, changed)),
    ),
  );
  return {
    /** From the upgrade on. It is checked once more, as something may have ended since the request was let in. */
    register: (connection: AuthorizedConnection): Registration => register(open, connection),

    /** Ends them all, for whatever reason of the process's own. */
    closeAll: (): void => {
      for (const entry of [...entries]) shut(open, entry);
    },

    count: (): number => entries.size,
  };
}

function register(open: OpenConnections, connection: AuthorizedConnection): Registration {
  const { entries } = open;
  const entry: Entry = {
    ...connection,
    usedSinceCheck: false,
    usedBefore: false,
    holdsUntilMs: 0,
    pendingInput: [],
    pendingBytes: 0,
  };
  entries.add(entry);
  watch(open);
  recheck(open, [entry]);
  return {
    use: (then, bytes = 0) => entries.has(entry) && use(open, entry, then, bytes),
    end: () => {
      drop(entry);
      entries.delete(entry);
      watch(open);
    },
  };
}

/** Rechecks all of them every few seconds, while there are any. */
function watch(open: OpenConnections): void {
  const { deps, entries, timer } = open;
  if (entries.size > 0) {
    open.timer ??= setInterval(() => recheck(open, [...entries]), deps.everyMs ?? EVERY_MS).unref();
    return;
  }
  clearInterval(timer);
  open.timer = undefined;
}

/** Asks once for each credential. */
function recheck(open: OpenConnections, at: readonly Entry[]): void {
  const byCredential = Map.groupBy(
    at.filter((entry) => open.entries.has(entry)),
    ({ caller }) => credentialId(caller.credential),
  );
  for (const same of byCredential.values()) void recheckCredential(open, same);
}

async function recheckCredential(open: OpenConnections, same: readonly Entry[]): Promise<void> {
  const { current, monotonicMs, log } = open.deps;
  const [first] = same;
  if (first === undefined) return;
  const isUse = same.some(({ usedSinceCheck }) => usedSinceCheck);
  for (const entry of same) {
    entry.usedBefore = entry.usedSinceCheck;
    entry.usedSinceCheck = false;
  }
  try {
    const askedMs = monotonicMs();
    const now = await current(first.caller, isUse);
    for (const entry of same) {
      if (now === null || !entry.mayStay(now.caller)) shut(open, entry);
      else letThrough(open, entry, askedMs + now.holdsForMs);
    }
  } catch (err) {
    for (const entry of same) entry.usedSinceCheck ||= entry.usedBefore;
    log.warn({ err }, 'could not check whether a socket may stay open');
    setTimeout(recheck, RETRY_MS, open, same).unref();
  }
}

function shut({ entries }: OpenConnections, entry: Entry): void {
  drop(entry);
  if (entries.delete(entry)) entry.close();
}

function letThrough({ entries }: OpenConnections, entry: Entry, untilMs: number): void {
  entry.holdsUntilMs = untilMs;
  entry.pendingBytes = 0;
  for (const then of entry.pendingInput.splice(0)) if (entries.has(entry)) then();
}

function use(open: OpenConnections, entry: Entry, then: () => void, bytes: number): boolean {
  const waits = entry.pendingInput.length;
  const isFirst = !entry.usedSinceCheck;
  if (waits === 0 && open.deps.monotonicMs() < entry.holdsUntilMs) {
    entry.usedSinceCheck = true;
    then();
    // The first use after a while is told at once: a screen may be about to lock itself.
    if (isFirst && !entry.usedBefore) recheck(open, [entry]);
    return true;
  }
  if (waits >= MAX_PENDING || entry.pendingBytes + bytes > MAX_PENDING_BYTES) return false;
  entry.usedSinceCheck = true;
  entry.pendingInput.push(then);
  entry.pendingBytes += bytes;
  if (waits === 0) recheck(open, [entry]);
  return true;
}

function drop(entry: Entry): void {
  entry.pendingInput.length = 0;
  entry.pendingBytes = 0;
}

/** Whether the change may be about this caller; null is any change at all. */
const concerns = ({ user, credential }: Caller, changed: CredentialChange | null): boolean =>
  changed === null || (changed.kind === 'user' ? user.id : credentialId(credential)) === changed.id;
