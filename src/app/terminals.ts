import { type Caller, isLocked, type Origin } from '../domain/caller.ts';
import type { DomainError } from '../domain/errors.ts';
import type { Recording } from '../domain/recording.ts';
import { ok, type Result } from '../domain/result.ts';
import { CLOSE, type CloseReason, MAIN_CONNECTION } from '../domain/terminal.ts';
import { closeAs, endFor } from '../domain/terminal-place.ts';
import { resumeFrom } from '../domain/terminal-resume.ts';
import type { Leaving } from '../domain/terminal-slot.ts';
import { guestExpired } from '../domain/user.ts';
import type { Bus } from '../ports/bus.ts';
import type { Clock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Storage } from '../ports/repositories.ts';
import type { Screens } from '../ports/screen.ts';
import type { TerminalBackend } from '../ports/terminal-backend.ts';
import { type FirstOutput, firstOutput } from './first-output.ts';
import type { LiveRecordings } from './live-recordings.ts';
import { type LiveTerminal, liveTerminals, type TerminalConnection } from './live-terminals.ts';
import { type RecordingNews, type RecordingTold, WORDS, watches } from './recording-news.ts';
import { type Onlooker, type SharedNews, sharedTerminals } from './shared-terminals.ts';
import { liveEntry, placeOf, type TerminalAsk, type TerminalGrant } from './terminal-grant.ts';
import { type Run, terminalHolding } from './terminal-holding.ts';
import { recordClosed, recordOpened } from './terminal-opened.ts';
import { terminalReplicas } from './terminal-replicas.ts';
import { mayOpen } from './terminal-right.ts';
import { type Place, terminalSlots } from './terminal-slots.ts';
import type { TerminalStream } from './terminal-stream.ts';

/** A terminal that is open: its stream, and what to do when the socket has gone. */
export type OpenTerminal = {
  readonly id: string;
  readonly stream: TerminalStream;
  /** The first output to send. */
  readonly from: FirstOutput;
  resize(cols: number, rows: number): Promise<void>;
  /** The recording of what it shows, if there is one now. */
  recording(): RecordingTold | null;
  /** Who shares the terminal, and its size, from now on. */
  hear(listener: (news: SharedNews) => void): void;
  /** The peer has answered a ping. */
  pinged(): void;
  /** Why its program has ended. */
  endReason(): Promise<CloseReason>;
  release(how: Leaving): Promise<void>;
};

/** What was opened for a socket; `refused` tells why it is not recorded, although it should have been. */
type Opened = {
  readonly place: Place;
  readonly stream: TerminalStream;
  readonly refused: RecordingTold | null;
  /** Recordings that may be of what it shows, beside those of this process. */
  readonly known: readonly Recording[];
};

export type TerminalDeps = {
  readonly storage: Storage;
  readonly backend: TerminalBackend;
  readonly bus: Bus;
  readonly me: Run;
  readonly clock: Clock;
  readonly log: Logger;
  readonly recordings: LiveRecordings;
  readonly news: Pick<RecordingNews, 'listen'>;
  readonly screens: Screens;
  /** Milliseconds that never jump. */
  readonly monotonicMs: () => number;
};

export type Terminals = ReturnType<typeof terminals>;

/** Opens terminals, keeps them for clients whose line was lost, and knows the live ones of this process. */
export function terminals(deps: TerminalDeps) {
  const { storage, backend, bus, me, clock, log, recordings, news, monotonicMs, screens } = deps;
  const { repositories, inTransaction } = storage;
  const records = repositories.terminals;
  const { replica } = me;
  const live = liveTerminals(clock, replica);
  const holding = terminalHolding(repositories.terminalHolds, me, monotonicMs);
  const slots = terminalSlots({ holding, log, monotonicMs, listener: recordings, screens });
  news.listen({
    told: (told) => {
      for (const entry of live.all()) if (watches(entry, told)) entry.connection.tell(told);
    },
  });
  const replicas = terminalReplicas({ bus, records, replica, live, slots, log, monotonicMs });
  const shared = sharedTerminals({
    collaborations: repositories.collaborations,
    bus,
    log,
    parts: () => slots.places().flatMap(({ containerId, part }) => (part ? [{ ...part, containerId }] : [])),
    shut: (over) =>
      slots.shutWhere(CLOSE.collaborationEnded, ({ part }) =>
        over.some((one) => one.collaborationId === part?.collaborationId && one.userId === part.userId),
      ),
  });

  return {
    /** The checks that come before the upgrade. */
    async authorize(
      id: string,
      ask: TerminalAsk,
      caller: Caller,
      origin: Origin,
    ): Promise<Result<TerminalGrant, DomainError>> {
      const right = await mayOpen({ repositories, backend, clock }, id, ask, caller);
      return right.ok ? ok({ caller, ...right.value, ask, origin }) : right;
    },

    /**
     * The terminal for an upgraded socket: the one that it lost, or a new one. null when the socket was closed
     * meanwhile. Throws what the backend throws.
     */
    async open(grant: TerminalGrant, connection: TerminalConnection): Promise<OpenTerminal | null> {
      const place = placeOf(grant, backend);
      const entry = liveEntry(grant, place.key, connection, clock.now());
      const release = (how: Leaving): void => {
        live.remove(entry);
        slots.leave(place, entry.id, how);
      };
      const { forceNew, resume } = grant.ask;
      live.add(entry);
      try {
        const asking = {
          socket: entry.id,
          resumes: resume?.stream ?? null,
          forceNew,
          close: connection.close,
        };
        const stream = await slots.connect(place, asking);
        if (stream !== null) {
          entry.muxSession = stream.muxSession;
          entry.recordedAt = await inTransaction((tx) => recordOpened(tx, live.recordOf(entry), grant));
          replicas.took(entry);
          const wanted = grant.ask.record && resume?.stream !== stream.id;
          const refused = wanted
            ? await recordings.recordAtOnce(entry, grant.container.name, grant.origin)
            : null;
          const known = await recordings.elsewhere(entry);
          return await openTerminal(entry, grant, { place, stream, refused, known }, release);
        }
        release('lost');
        return null;
      } catch (error) {
        release('lost');
        throw error;
      }
    },

    /** Whether somebody may keep an open terminal, going by what is known of them now. */
    mayStay: (now: Caller): boolean => !isLocked(now) && !guestExpired(now.user, clock.now()),

    /** The one of this process, with what its record may not have yet. */
    find: live.find,

    /** The newest open one of this process under a key. */
    underKey: live.underKey,

    /** Open ones of this process. */
    count: live.count,

    /** Closes every terminal of a container, in every process. */
    closeAll: replicas.closeAll,

    /** Before the first is opened: what an earlier run of this process left on record is no terminal any more. */
    begin: (): Promise<void> => records.removeAllOf(replica),

    /** What this process has in containers. */
    holding,

    /** Closes every terminal of this process. */
    closeEverything: (reason: CloseReason): void => slots.shut(reason),

    /** When what was closed has ended in the containers as well. */
    idle: slots.idle,

    /** Ends what nobody came back to, closes what is shared no more, and writes what is due of the records; for a timer. */
    async writeDue(): Promise<void> {
      slots.tick();
      await Promise.all([
        shared.lookAtParticipants(),
        holding.renewDue(),
        live.writeDue(records),
        replicas.lookDue(),
      ]);
    },
  };

  async function openTerminal(
    entry: LiveTerminal,
    grant: TerminalGrant,
    { place, stream, refused, known }: Opened,
    leave: (how: Leaving) => void,
  ): Promise<OpenTerminal> {
    const { resume } = grant.ask;
    const after = resume?.stream === stream.id ? resume.after : null;
    const from = resumeFrom(stream.held(), after);
    const isOther = resume !== null && after === null;
    const at = shared.enter({
      containerId: entry.containerId,
      role: roleOf(grant),
      size: { cols: entry.cols, rows: entry.rows },
      resize: ({ cols, rows }) => stream.resize(cols, rows),
    });
    const resize = (cols: number, rows: number): Promise<void> => {
      live.resize(entry, cols, rows);
      return at.resize({ cols, rows });
    };
    // The window may have changed meanwhile, and it is another one after a reload.
    if (resume !== null || from.redraw) void resize(grant.ask.cols, grant.ask.rows);
    const first = await firstOutput(stream, from);
    return {
      id: entry.id,
      stream,
      from: { ...first, redraw: first.redraw || isOther },
      resize,
      recording() {
        const watched = [...recordings.all(), ...known].find((one) => watches(entry, one));
        return watched === undefined ? refused : { ...watched, on: true, message: WORDS.started };
      },
      hear: at.hear,
      pinged() {
        entry.lastPingAt = clock.now();
      },
      async endReason() {
        const [now] = await records.places([place.containerId]).catch(() => []);
        return now === undefined ? CLOSE.ended : closeAs(endFor(now, place.runtimeId), place.part !== null);
      },
      async release(how) {
        leave(how);
        await inTransaction((tx) => recordClosed(tx, entry, grant)).finally(at.leave);
      },
    };
  }
}

/** The owner's main terminal is as large as the owner likes; participants see what is on it. */
function roleOf({ access, mode, ask }: TerminalGrant): Onlooker['role'] {
  if (access !== null) return 'follower';
  return ask.connectionId === MAIN_CONNECTION && mode === 'control' ? 'ruler' : 'apart';
}
