/** What terminals leave behind in containers when the process that had them was killed, and what of it is ended. */

/** A terminal in a container, by the marker in the environment of its programs, and the process that opened it. */
export type TerminalLease = {
  readonly streamId: string;
  readonly runtimeId: string;
  /** Where it is attached, in images with a multiplexer. */
  readonly muxSession: string;
  readonly replica: string;
  /** One start of the replica. */
  readonly incarnation: string;
  /** Its process is ending it: nobody is shown it any more. */
  readonly isEnding: boolean;
  /** How long that run has not been heard of. */
  readonly silentSeconds: number;
};

/** What is in a container now. */
export type Leftovers = {
  /** Names of multiplexer sessions. */
  readonly sessions: readonly string[];
  /** Markers of programs. */
  readonly marks: readonly string[];
};

/** Who decides. */
export type Reaper = {
  readonly replica: string;
  readonly incarnation: string;
  /** Streams that it has, or is opening or ending. */
  readonly streamIds: ReadonlySet<string>;
  /**
   * Whether it has been heard of itself for a while. Right after an outage of the database everybody seems to be dead.
   */
  readonly isSteady: boolean;
};

export type Reaping = {
  readonly marks: readonly string[];
  readonly sessions: readonly string[];
  /** Leases of which nothing is left. */
  readonly forget: readonly string[];
};

/** A run that was not heard of for longer is dead. It is also how long a client may take to come back to its pane. */
export const DEAD_AFTER_SECONDS = 75;

/**
 * `leased`: by a process that lives. `reclaimable`: its process is dead, and a client may come back to its session, but to
 * nothing else of it.
 */
type Standing = 'leased' | 'reclaimable' | 'abandoned';

function standingOf(
  { streamId, replica, incarnation, silentSeconds, isEnding }: TerminalLease,
  me: Reaper,
): Standing {
  if (incarnation === me.incarnation) return me.streamIds.has(streamId) ? 'leased' : 'abandoned';
  const isOver = me.isSteady && silentSeconds > DEAD_AFTER_SECONDS;
  if (isOver) return 'abandoned';
  // A replica runs once: an earlier run of this one is dead.
  if (replica !== me.replica) return 'leased';
  return isEnding ? 'abandoned' : 'reclaimable';
}

/** Those of split panes and of participants; the session of the main pane lives as long as its container does. */
const endsWithItsTerminals = (session: string): boolean => /^(pane|user)-/.test(session);

/**
 * What to end in a container; `runtimeId` is its id in the engine, null when nothing runs in it. `seen` was looked at before `leases` were
 * read.
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
  const marks = seen.marks.filter((mark) => !leased.has(mark) && (me.isSteady || known.has(mark)));
  const sessions = seen.sessions.filter(
    (session) =>
      endsWithItsTerminals(session) && !kept.has(session) && (me.isSteady || attached.has(session)),
  );
  const remains = ({ streamId, muxSession, runtimeId: at }: TerminalLease): boolean =>
    at === runtimeId && (marks.includes(streamId) || sessions.includes(muxSession));
  const forget = leases.filter((lease) => standing.get(lease) === 'abandoned' && !remains(lease));
  return { marks, sessions, forget: forget.map(({ streamId }) => streamId) };
}
