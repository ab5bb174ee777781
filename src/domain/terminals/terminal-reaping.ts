/** What a killed process leaves in containers, and what of it is ended. */

/** A terminal in a container, identified by the marker in its programs' environment, and the process that opened it. */
export type TerminalLease = {
  readonly streamId: string;
  readonly runtimeId: string;
  /** The session it is attached to, in images with a multiplexer. */
  readonly muxSession: string;
  readonly replica: string;
  /** The start of the replica that opened it. */
  readonly runId: string;
  /** Its process is ending it: it has no viewer any more. */
  readonly isEnding: boolean;
  /** Time since that run last renewed its lease. */
  readonly silentSeconds: number;
};

/** What is in a container now. */
export type Leftovers = {
  readonly sessions: readonly string[];
  readonly marks: readonly string[];
};

/** The deciding process. */
export type Reaper = {
  readonly replica: string;
  readonly runId: string;
  /** Its streams, including those being opened or ended. */
  readonly streamIds: ReadonlySet<string>;
  /** Whether its own lease has been renewed for a while. Right after a database outage all others look dead. */
  readonly isSteady: boolean;
};

export type Reaping = {
  readonly marks: readonly string[];
  readonly sessions: readonly string[];
  /** Leases without leftovers. */
  readonly forget: readonly string[];
};

/** A run silent for longer is dead. A client may return to its pane for as long. */
export const DEAD_AFTER_SECONDS = 75;

/**
 * `leased`: by a live process. `reclaimable`: its process is dead, but a client may return to its session. `abandoned`:
 * nobody can return.
 */
type Standing = 'leased' | 'reclaimable' | 'abandoned';

function standingOf(
  { streamId, replica, runId, silentSeconds, isEnding }: TerminalLease,
  me: Reaper,
): Standing {
  if (runId === me.runId) return me.streamIds.has(streamId) ? 'leased' : 'abandoned';
  const isOver = me.isSteady && silentSeconds > DEAD_AFTER_SECONDS;
  if (isOver) return 'abandoned';
  // A replica runs once, so its earlier runs are dead.
  if (replica !== me.replica) return 'leased';
  return isEnding ? 'abandoned' : 'reclaimable';
}

/** Sessions of split panes and of participants; that of the main pane lives as long as its container. */
const endsWithItsTerminals = (session: string): boolean => /^(pane|user)-/.test(session);

/**
 * Whether a run searches this container for leftovers without a lease: all live runs share the containers, and exchange
 * their shares with each `turn`, as one of them may not reach the engine. While they disagree about who lives, or about
 * the turn, a container may be searched twice, or only the next time.
 */
export function isSearchedBy(
  runId: string,
  dbId: string,
  liveRunIds: readonly string[],
  turn: number,
): boolean {
  const runIds = [...new Set([...liveRunIds, runId])].sort();
  return (Number.parseInt(dbId.slice(0, 8), 16) + turn) % runIds.length === runIds.indexOf(runId);
}

/** No container has as many terminals: a longer list is forged. */
const MOST_BELIEVED = 1_000;

/** Those with a lease first: the caller may end only the first ones. */
const leasedFirst = (names: readonly string[], leased: ReadonlySet<string>): readonly string[] => [
  ...names.filter((name) => leased.has(name)),
  ...names.filter((name) => !leased.has(name)),
];

/**
 * What to end in a container; `runtimeId` is null when it does not run. `seen` was observed before `leases` were read,
 * and comes from programs of the container, which may lie.
 */
export function decideReaping(
  seen: Leftovers,
  leases: readonly TerminalLease[],
  runtimeId: string | null,
  me: Reaper,
): Reaping {
  const standing = new Map(leases.map((lease) => [lease, standingOf(lease, me)]));
  const here = leases.filter((lease) => lease.runtimeId === runtimeId);
  const known = new Set(here.map(({ streamId }) => streamId));
  const leased = new Set(
    here.filter((lease) => standing.get(lease) === 'leased').map(({ streamId }) => streamId),
  );
  const kept = new Set(
    here.filter((lease) => standing.get(lease) !== 'abandoned').map(({ muxSession }) => muxSession),
  );
  const attached = new Set(here.map(({ muxSession }) => muxSession));
  const endsUnknown = me.isSteady && seen.marks.length + seen.sessions.length <= MOST_BELIEVED;
  const marks = seen.marks.filter((mark) => !leased.has(mark) && (endsUnknown || known.has(mark)));
  const sessions = seen.sessions.filter(
    (session) =>
      endsWithItsTerminals(session) && !kept.has(session) && (endsUnknown || attached.has(session)),
  );
  const remains = ({ streamId, muxSession, runtimeId: at }: TerminalLease): boolean =>
    at === runtimeId && (marks.includes(streamId) || sessions.includes(muxSession));
  const forget = leases.filter((lease) => standing.get(lease) === 'abandoned' && !remains(lease));
  return {
    marks: leasedFirst(marks, known),
    sessions: leasedFirst(sessions, attached),
    forget: forget.map(({ streamId }) => streamId),
  };
}
