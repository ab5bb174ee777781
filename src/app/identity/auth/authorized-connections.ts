import { type Caller, credentialId } from '../../../domain/identity/caller.ts';
import type { Bus } from '../../../ports/bus.ts';
import type { Logger } from '../../../ports/logger.ts';
import { type CredentialChange, subscribeToCredentialChanges } from './credential-changes.ts';

/** An open socket, or an unfinished answer, whose request was authorized earlier. */
export type AuthorizedConnection = {
  readonly caller: Caller;
  /** Whether the caller, whose credential is valid, may stay. */
  readonly mayStay: (now: Caller) => boolean;
  /** Ends it, a socket with `unauthorized`. Nothing is sent or accepted afterwards. */
  readonly close: () => void;
};

export type Registration = {
  /**
   * Counts a use, which keeps the session from idling out. `then` is called at once or, when the credential may have
   * ended by time, after a check; never after the end. False when too many calls or bytes are waiting.
   */
  readonly use: (then: () => void, bytes?: number) => boolean;
  readonly end: () => void;
};

export type AuthorizedConnectionsDeps = {
  readonly bus: Bus;
  /** The caller by the database's present state; null when the credential has ended. */
  readonly current: (caller: Caller, isUse: boolean) => Promise<Present | null>;
  readonly log: Logger;
  readonly monotonicMs: () => number;
  /** Interval of the check for lost messages. */
  readonly everyMs?: number | undefined;
};

/** A valid caller, and how long it stays valid if neither changed nor used. */
export type Present = { readonly caller: Caller; readonly holdsForMs: number };

/** `usedBefore`: used in the interval before too; `pendingInput`: input waiting for the next check. */
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
 * This process's open sockets and answers, by credential. They close when their session or API token ends or their user
 * is disabled, in any process: at once by the message, else by the check every few seconds. A silent database ends no
 * terminal; it is asked again. Ends by time, such as a screen lock, take effect at the next check, and input from that
 * moment on waits for it.
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
    /** Call it at the upgrade. Checks again, since the credential may have ended after the request was admitted. */
    register: (connection: AuthorizedConnection): Registration => register(open, connection),

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

/** Checks all every few seconds, while there are any. */
function watch(open: OpenConnections): void {
  const { deps, entries, timer } = open;
  if (entries.size > 0) {
    open.timer ??= setInterval(() => recheck(open, [...entries]), deps.everyMs ?? EVERY_MS).unref();
    return;
  }
  clearInterval(timer);
  open.timer = undefined;
}

/** One query per credential. */
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
    // The first use after a while is checked at once: a screen may be about to lock.
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

/** Whether the change may affect this caller; null: any change. */
const concerns = ({ user, credential }: Caller, changed: CredentialChange | null): boolean =>
  changed === null || (changed.kind === 'user' ? user.id : credentialId(credential)) === changed.id;
