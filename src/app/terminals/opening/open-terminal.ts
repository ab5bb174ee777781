import type { RecordingNotice } from '../../../domain/terminals/recording.ts';
import { CLOSE, type CloseReason, MAIN_CONNECTION } from '../../../domain/terminals/terminal.ts';
import { resumeFrom } from '../../../domain/terminals/terminal-resume.ts';
import type { Leaving } from '../../../domain/terminals/terminal-slot-types.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Storage } from '../../../ports/storage.ts';
import type { TerminalBackend } from '../../../ports/terminals/terminal-backend.ts';
import type {
  Onlooker,
  SharedTerminalNotice,
  SharedTerminals,
} from '../../collaboration/shared-terminals.ts';
import type { TerminalEnds } from '../cleanup/terminal-ends.ts';
import { type InitialOutput, initialOutput } from '../output/initial-output.ts';
import type { TerminalStream } from '../output/terminal-stream.ts';
import type {
  ConnectionRecords,
  LiveTerminal,
  TerminalConnection,
  TerminalObserver,
} from '../terminal-connections.ts';
import { terminalEndRecords } from '../terminal-records.ts';
import type { TerminalRegistry } from '../terminal-registry.ts';
import type { TerminalSync } from '../terminal-sync.ts';
import type { TerminalTarget } from './locate-terminal.ts';
import { type OpeningRecord, openingRecord } from './opening-record.ts';
import { NO_TURN, type Turn } from './terminal-queue.ts';
import { liveEntry, type TerminalGrant, targetOf } from './terminal-target.ts';

/** An open terminal: its stream, and the functions for its socket. */
export type OpenTerminal = {
  readonly id: string;
  readonly stream: TerminalStream;
  /** The output with which a client begins. */
  readonly startPoint: InitialOutput;
  resize(cols: number, rows: number): Promise<void>;
  /** The active recording of what it shows, if any. */
  recording(): RecordingNotice | null;
  /** The sharing users and the size, from now on. */
  onNotice(listener: (notice: SharedTerminalNotice) => void): void;
  pinged(): void;
  /** The client learns of the stream, and may return for it. */
  shown(): void;
  /** Resolves after the last output, with the close reason and the program's exit code, if known. */
  ended(): Promise<TerminalEnded>;
  release(how: Leaving): Promise<void>;
};

export type TerminalEnded = { readonly reason: CloseReason; readonly code: number | null };

/** Those who must know of an open terminal: its recorder, other processes, and who shares it. */
export type TerminalPeers = {
  readonly observer: TerminalObserver;
  readonly sync: Pick<TerminalSync, 'took'>;
  readonly shared: Pick<SharedTerminals, 'enter'>;
};

export type TerminalOpeningDeps = {
  readonly storage: Storage;
  readonly backend: TerminalBackend;
  readonly clock: Clock;
  readonly log: Logger;
  readonly connections: Pick<ConnectionRecords, 'resize' | 'recordOf'>;
  readonly registry: TerminalRegistry;
  readonly peers: TerminalPeers;
  readonly ends: TerminalEnds;
};

/** A socket's use of a terminal, from its request until its end is on record. */
type Attachment = {
  readonly grant: TerminalGrant;
  readonly target: TerminalTarget;
  readonly entry: LiveTerminal;
  readonly record: OpeningRecord;
  /** Its seat at the shared terminal. */
  at: { leave(): void } | null;
  over(): void;
};

type State = {
  readonly deps: TerminalOpeningDeps;
  /** Settle when their end is on record. */
  readonly attachments: Set<Promise<void>>;
  readonly recordEnd: ReturnType<typeof terminalEndRecords>;
};

/** Opens terminals for sockets. Each recorded opening gets a recorded close, whatever happens. */
export function terminalOpening(deps: TerminalOpeningDeps) {
  const { storage, backend, log, registry, ends } = deps;
  const state: State = { deps, attachments: new Set(), recordEnd: terminalEndRecords(storage, log) };

  return {
    /**
     * The terminal for an upgraded socket: the one it resumes, or a new one. null when the socket has closed meanwhile.
     * Throws the backend's errors.
     */
    async open(
      grant: TerminalGrant,
      connection: TerminalConnection,
      turn: Turn = NO_TURN,
    ): Promise<OpenTerminal | null> {
      const attachment = begin(state, grant, connection);
      const opened = openFor(state, attachment);
      // A leaving client is answered at once; its opening continues in the container.
      turn.during([opened, registry.opening(attachment.entry.id)]);
      return await opened;
    },

    whyNot: (grant: TerminalGrant, error: unknown): Promise<CloseReason> =>
      ends.afterFault(targetOf(grant, backend), error),

    /** Resolves when no socket has a terminal and every end is on record. */
    over: async (): Promise<void> => void (await Promise.all(state.attachments)),
  };
}

function begin(state: State, grant: TerminalGrant, connection: TerminalConnection): Attachment {
  const { attachments, deps } = state;
  const { backend, clock } = deps;
  const target = targetOf(grant, backend);
  const entry = liveEntry(grant, target.key, connection, clock.now());
  const { promise, resolve } = Promise.withResolvers<void>();
  attachments.add(promise);
  const over = (): void => {
    attachments.delete(promise);
    resolve();
  };
  return { grant, target, entry, record: openingRecord(deps, grant, entry), at: null, over };
}

/** Never throws. */
async function end(
  { deps: { registry, log }, recordEnd }: State,
  { grant, target, entry, record, at, over }: Attachment,
  how: Leaving,
): Promise<void> {
  try {
    registry.leave(target, entry.id, how);
    await record.settled();
    if (entry.recordedAt !== null) await recordEnd({ entry, grant });
    at?.leave();
  } catch (err) {
    log.error({ err }, 'a terminal did not end cleanly');
  } finally {
    over();
  }
}

async function openFor(state: State, attachment: Attachment): Promise<OpenTerminal | null> {
  try {
    const stream = await connect(state.deps, attachment);
    if (stream !== null) return await show(state, attachment, stream);
  } catch (error) {
    void end(state, attachment, 'lost');
    throw error;
  }
  await end(state, attachment, 'lost');
  return null;
}

const connect = ({ registry }: TerminalOpeningDeps, { grant, target, entry, record }: Attachment) =>
  registry.connect(target, {
    terminal: entry,
    resumes: grant.options.resume?.stream ?? null,
    forceNew: grant.options.forceNew,
    started: record.begin,
  });

/** From here on the terminal is on record as open. */
async function show(state: State, attachment: Attachment, stream: TerminalStream): Promise<OpenTerminal> {
  const { clock, registry, peers } = state.deps;
  const { target, entry, record } = attachment;
  await record.complete(stream.muxSession);
  peers.sync.took(entry);
  const recording = await recordingOf(peers, attachment, stream);
  const { startPoint, resize, onNotice } = await enter(state.deps, attachment, stream);
  return {
    id: entry.id,
    stream,
    startPoint,
    resize,
    recording,
    onNotice,
    pinged() {
      Object.assign(entry, { lastPingAt: clock.now(), wasPinged: true });
    },
    shown: () => registry.shown(target, entry.id),
    ended: () => ended(state.deps, target, stream),
    release: (how) => end(state, attachment, how),
  };
}

/** Starts the requested recording. Returns the active one, or why there is none. */
async function recordingOf(
  { observer }: TerminalPeers,
  { grant, entry }: Attachment,
  stream: TerminalStream,
): Promise<() => RecordingNotice | null> {
  const { options, container, origin } = grant;
  const isBegun = options.record && options.resume?.stream !== stream.id;
  const refused = isBegun ? await observer.recordOnOpen(entry, container.name, origin) : null;
  const recording = await observer.recordingOf(entry);
  return () => recording() ?? refused;
}

async function enter(
  { connections, peers }: TerminalOpeningDeps,
  attachment: Attachment,
  stream: TerminalStream,
) {
  const { grant, entry } = attachment;
  const { resume, cols, rows } = grant.options;
  const after = resume?.stream === stream.id ? resume.after : null;
  const from = resumeFrom(stream.bufferedRange(), after);
  const isOther = resume !== null && after === null;
  const at = peers.shared.enter({
    dbId: entry.dbId,
    role: roleOf(grant),
    size: { cols: entry.cols, rows: entry.rows },
    resize: (size) => stream.resize(size.cols, size.rows),
  });
  attachment.at = at;
  const resize = (newCols: number, newRows: number): Promise<void> => {
    connections.resize(entry, newCols, newRows);
    return at.resize({ cols: newCols, rows: newRows });
  };
  // The window may have changed meanwhile or in a reload.
  if (resume !== null || from.redraw) void resize(cols, rows);
  const first = await initialOutput(stream, from);
  return { startPoint: { ...first, redraw: first.redraw || isOther }, resize, onNotice: at.onNotice };
}

async function ended(
  { ends, registry }: TerminalOpeningDeps,
  target: TerminalTarget,
  stream: TerminalStream,
): Promise<TerminalEnded> {
  const end = await stream.ending();
  const reason = await ends.afterEnd(target, end, stream.ranMs());
  // This stream has no more output: a returning client gets a new one.
  if (reason !== CLOSE.ended) registry.detached(target.key, stream.id);
  return { reason, code: end.kind === 'exited' ? end.code : null };
}

/** The owner decides the size of the main terminal; participants see it. */
function roleOf({ access, mode, options }: TerminalGrant): Onlooker['role'] {
  if (access !== null) return 'participant';
  return options.connectionId === MAIN_CONNECTION && mode === 'control' ? 'owner' : 'independent';
}
