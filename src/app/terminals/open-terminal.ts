import type { RecordingNotice } from '../../domain/terminals/recording.ts';
import { CLOSE, type CloseReason, MAIN_CONNECTION } from '../../domain/terminals/terminal.ts';
import { resumeFrom } from '../../domain/terminals/terminal-resume.ts';
import type { Leaving } from '../../domain/terminals/terminal-slot.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Storage } from '../../ports/storage.ts';
import type { TerminalBackend } from '../../ports/terminals/terminal-backend.ts';
import type { Onlooker, SharedTerminalNotice, SharedTerminals } from '../collaboration/shared-terminals.ts';
import type { Place } from './locate-terminal.ts';
import { type FirstOutput, firstOutput } from './output/initial-output.ts';
import type { TerminalStream } from './output/terminal-stream.ts';
import type { LiveTerminal, LiveTerminals, TerminalConnection } from './terminal-connections.ts';
import { terminalEndRecords } from './terminal-end-records.ts';
import type { TerminalEnds } from './terminal-ends.ts';
import type { TerminalObserver } from './terminal-observer.ts';
import { NO_TURN, type Turn } from './terminal-queue.ts';
import { recordOpened } from './terminal-records.ts';
import type { TerminalSlots } from './terminal-registry.ts';
import type { TerminalReplicas } from './terminal-sync.ts';
import { liveEntry, placeOf, type TerminalGrant } from './terminal-target.ts';

/** A terminal that is open: its stream, and what to do when the socket has gone. */
export type OpenTerminal = {
  readonly id: string;
  readonly stream: TerminalStream;
  /** The first output to send. */
  readonly from: FirstOutput;
  resize(cols: number, rows: number): Promise<void>;
  /** The recording of what it shows, if there is one now. */
  recording(): RecordingNotice | null;
  /** Who shares the terminal, and its size, from now on. */
  onNotice(listener: (notice: SharedTerminalNotice) => void): void;
  /** The peer has answered a ping. */
  pinged(): void;
  /** The client is told of the stream now, and may come back for it. */
  shown(): void;
  /** After its last output: why it is over, and the exit code of a program that has ended, if it is known. */
  ended(): Promise<TerminalEnded>;
  release(how: Leaving): Promise<void>;
};

export type TerminalEnded = { readonly reason: CloseReason; readonly code: number | null };

export type TerminalOpeningDeps = {
  readonly storage: Storage;
  readonly backend: TerminalBackend;
  readonly clock: Clock;
  readonly log: Logger;
  readonly observer: TerminalObserver;
  readonly live: LiveTerminals;
  readonly slots: TerminalSlots;
  readonly replicas: Pick<TerminalReplicas, 'took'>;
  readonly shared: Pick<SharedTerminals, 'enter'>;
  readonly ends: TerminalEnds;
};

/** A socket at its terminal, from the moment that it asks for it until its end is on record. */
type Sitting = {
  readonly grant: TerminalGrant;
  readonly place: Place;
  readonly entry: LiveTerminal;
  /** Its place among those who share the terminal. */
  at: { leave(): void } | null;
  over(): void;
};

/** Terminals of sockets: each that is put on record as open is put on record as closed, whatever comes between. */
export function terminalOpening(deps: TerminalOpeningDeps) {
  const { storage, backend, clock, log, observer, live, slots, replicas, shared, ends } = deps;
  const { inTransaction } = storage;
  const sittings = new Set<Promise<void>>();
  const recordEnd = terminalEndRecords(storage, log);

  function begin(grant: TerminalGrant, connection: TerminalConnection): Sitting {
    const place = placeOf(grant, backend);
    const entry = liveEntry(grant, place.key, connection, clock.now());
    const { promise, resolve } = Promise.withResolvers<void>();
    sittings.add(promise);
    live.add(entry);
    const over = (): void => {
      sittings.delete(promise);
      resolve();
    };
    return { grant, place, entry, at: null, over };
  }

  /** Never throws. */
  async function end({ grant, place, entry, at, over }: Sitting, how: Leaving): Promise<void> {
    try {
      live.remove(entry);
      slots.leave(place, entry.id, how);
      if (entry.recordedAt !== null) await recordEnd({ entry, grant });
      at?.leave();
    } catch (err) {
      log.error({ err }, 'a terminal did not end cleanly');
    } finally {
      over();
    }
  }

  const connect = ({ grant, place, entry }: Sitting): Promise<TerminalStream | null> =>
    slots.connect(place, {
      socket: entry.id,
      resumes: grant.ask.resume?.stream ?? null,
      forceNew: grant.ask.forceNew,
      close: entry.connection.close,
    });

  /** From here on it is on record that the terminal is open. `refused`: why what it shows is not recorded, as was asked. */
  async function show(sitting: Sitting, stream: TerminalStream): Promise<OpenTerminal> {
    const { grant, entry } = sitting;
    const { record, resume } = grant.ask;
    entry.muxSession = stream.muxSession;
    entry.recordedAt = await inTransaction((tx) => recordOpened(tx, live.recordOf(entry), grant));
    replicas.took(entry);
    const isBegun = record && resume?.stream !== stream.id;
    const { container, origin } = grant;
    const refused = isBegun ? await observer.recordAtOnce(entry, container.name, origin) : null;
    const recording = await observer.recordingOf(entry);
    const { from, resize, onNotice } = await enter(sitting, stream);
    return {
      id: entry.id,
      stream,
      from,
      resize,
      recording: () => recording() ?? refused,
      onNotice,
      pinged() {
        entry.lastPingAt = clock.now();
      },
      shown: () => slots.shown(sitting.place, entry.id),
      ended: () => ended(sitting.place, stream),
      release: (how) => end(sitting, how),
    };
  }

  async function enter(sitting: Sitting, stream: TerminalStream) {
    const { grant, entry } = sitting;
    const { resume, cols, rows } = grant.ask;
    const after = resume?.stream === stream.id ? resume.after : null;
    const from = resumeFrom(stream.bufferedRange(), after);
    const isOther = resume !== null && after === null;
    const at = shared.enter({
      dbId: entry.dbId,
      role: roleOf(grant),
      size: { cols: entry.cols, rows: entry.rows },
      resize: (size) => stream.resize(size.cols, size.rows),
    });
    sitting.at = at;
    const resize = (newCols: number, newRows: number): Promise<void> => {
      live.resize(entry, newCols, newRows);
      return at.resize({ cols: newCols, rows: newRows });
    };
    // The window may have changed meanwhile, and it is another one after a reload.
    if (resume !== null || from.redraw) void resize(cols, rows);
    const first = await firstOutput(stream, from);
    return { from: { ...first, redraw: first.redraw || isOther }, resize, onNotice: at.onNotice };
  }

  async function ended(place: Place, stream: TerminalStream): Promise<TerminalEnded> {
    const end = await stream.ending();
    const reason = await ends.afterEnd(place, end, stream.ranMs());
    // This stream has no more output: a client that returns gets a new one.
    if (reason !== CLOSE.ended) slots.detached(place.key, stream.id);
    return { reason, code: end.kind === 'exited' ? end.code : null };
  }

  async function openFor(sitting: Sitting): Promise<OpenTerminal | null> {
    try {
      const stream = await connect(sitting);
      if (stream !== null) return await show(sitting, stream);
    } catch (error) {
      void end(sitting, 'lost');
      throw error;
    }
    await end(sitting, 'lost');
    return null;
  }

  return {
    /**
     * The terminal for an upgraded socket: the one that it lost, or a new one. null when the socket was closed
     * meanwhile. Throws what the backend throws.
     */
    async open(
      grant: TerminalGrant,
      connection: TerminalConnection,
      turn: Turn = NO_TURN,
    ): Promise<OpenTerminal | null> {
      const sitting = begin(grant, connection);
      const opened = openFor(sitting);
      // A client that leaves is answered at once; what it began goes on in the container.
      turn.during([opened, slots.opening(sitting.entry.id)]);
      return await opened;
    },

    /** Why `open` threw. */
    whyNot: (grant: TerminalGrant, error: unknown): Promise<CloseReason> =>
      ends.afterFault(placeOf(grant, backend), error),

    /** When no socket has a terminal any more, and the end of each is on record. */
    over: async (): Promise<void> => void (await Promise.all(sittings)),
  };
}

/** The owner's main terminal is as large as the owner likes; participants see what is on it. */
function roleOf({ access, mode, ask }: TerminalGrant): Onlooker['role'] {
  if (access !== null) return 'participant';
  return ask.connectionId === MAIN_CONNECTION && mode === 'control' ? 'owner' : 'independent';
}
