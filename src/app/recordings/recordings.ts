import { setTimeout as sleep } from 'node:timers/promises';
import type { DomainError } from '../../domain/errors.ts';
import type { Caller, Origin } from '../../domain/identity/caller.ts';
import { ok, type Result, refuse } from '../../domain/result.ts';
import type { Recording } from '../../domain/terminals/recording.ts';
import { terminalKey } from '../../domain/terminals/terminal.ts';
import { isUuid } from '../../domain/uuid.ts';
import type { Logger } from '../../ports/logger.ts';
import type { Page, PageRequest } from '../../ports/pagination.ts';
import type { Storage } from '../../ports/storage.ts';
import type { RecordingFiles } from '../../ports/terminals/recording-files.ts';
import type { ActRecords } from '../audit/activity-records.ts';
import { findOwn, handleOf } from '../containers/find-container.ts';
import type { Terminals } from '../terminals/terminals.ts';
import { orRollBack } from '../transaction.ts';
import type { LiveRecordings } from './active-recordings.ts';
import type { RecordingMessages } from './recording-messages.ts';
import { recordDeleted } from './recording-records.ts';
import { recordingReplicas } from './remote-recordings.ts';

/** A process that is asked to end its recording has done so within this, or is gone. */
const STOP_WITHIN_MS = 3_000;
const POLL_MS = 50;
/** A process that was silent for so long makes no recording any more. */
const SILENT_SECONDS = 120;
/** A file without a row may belong to a recording that just begins. */
const ORPHAN_AFTER_MS = 600_000;

export type RecordingsDeps = {
  readonly storage: Storage;
  readonly acts: Pick<ActRecords, 'record'>;
  readonly files: RecordingFiles;
  readonly live: LiveRecordings;
  readonly terminals: Pick<Terminals, 'find' | 'underKey'>;
  readonly messages: RecordingMessages;
  readonly replica: string;
  readonly log: Logger;
};

type Found = Result<Recording, DomainError>;

export type Recordings = ReturnType<typeof recordings>;

/** Recordings of the caller's own terminals; another's is like none. */
export function recordings({
  storage,
  acts,
  files,
  live,
  terminals,
  messages,
  replica,
  log,
}: RecordingsDeps) {
  const { repositories, inTransaction } = storage;
  const elsewhere = recordingReplicas({ repositories, live, terminals, messages, log });
  const failed = (what: string) => (err: unknown) => log.warn({ err }, what);
  messages.subscribe({
    stop: (id) => void live.stop(id),
    removed: (id) => void files.remove(id).catch(failed('could not remove the file of a recording')),
  });

  async function find(id: string, { user }: Pick<Caller, 'user'>): Promise<Found> {
    const found = isUuid(id) ? await repositories.recordings.find(id.toLowerCase(), user.id) : null;
    return found === null ? refuse({ code: 'recording_not_found' }) : ok(found);
  }

  async function stop(id: string, caller: Caller): Promise<Found> {
    const found = await find(id, caller);
    if (!found.ok || found.value.state !== 'recording') return found;
    const { id: known, userId, sizeBytes, durationMs } = found.value;
    const ended = await live.stop(known);
    if (ended !== null) return ok(ended);
    messages.stop(known);
    for (let waitedMs = 0; waitedMs < STOP_WITHIN_MS; waitedMs += POLL_MS) {
      await sleep(POLL_MS);
      const now = await find(known, caller);
      if (!now.ok || now.value.state !== 'recording') return now;
    }
    await repositories.recordings.end(known, userId, { state: 'ended', sizeBytes, durationMs });
    return await find(known, caller);
  }

  /** Ends one that its process left behind: what is in the file counts, if it is here. */
  async function settle({ id, userId, sizeBytes, durationMs }: Recording): Promise<void> {
    const facts = (await files.mend(id)) ?? { sizeBytes, durationMs };
    await repositories.recordings.end(id, userId, { state: 'ended', ...facts });
  }

  async function settleAll(left: readonly Recording[]): Promise<void> {
    for (const recording of left) {
      if (live.facts(recording.id) === null) await settle(recording);
    }
  }

  return {
    /** Records an open terminal of the caller's container from now on; the one that goes on when there is one. */
    async start(dbId: string, connectionId: string, caller: Caller, origin: Origin): Promise<Found> {
      const container = await findOwn(repositories, dbId, caller);
      if (!container.ok) return container;
      const { name } = container.value;
      const handle = handleOf(container.value);
      if (handle === null) return refuse({ code: 'terminal_not_open' });
      const key = terminalKey(handle.runtimeId, caller.user.id, connectionId);
      const open = terminals.underKey(key);
      if (open === null) return await elsewhere.begin(key, name, origin);
      return await live.begin(open, { containerName: name, origin, includesBuffered: false });
    },

    stop,
    find,

    /** Newest first. Throws `UnknownPage`. */
    async list(dbId: string | null, request: PageRequest, { user }: Caller): Promise<Page<Recording>> {
      if (dbId !== null && !isUuid(dbId)) return { items: [], next: null };
      return await repositories.recordings.page(user.id, dbId?.toLowerCase() ?? null, request);
    },

    /** The file as it is now. */
    async open(id: string, caller: Caller, origin: Origin) {
      const found = await find(id, caller);
      if (!found.ok) return found;
      const recording = { ...found.value, ...live.facts(found.value.id) };
      const file = await files.read(recording.id, recording.sizeBytes);
      if (file !== null) {
        const what = { recording_id: recording.id };
        const { dbId } = recording;
        await acts
          .record({ action: 'recording_downloaded', caller, origin, dbId, what })
          .catch((error: unknown) => {
            file.content.destroy();
            throw error;
          });
        return ok({ recording, ...file });
      }
      return refuse({
        code: recording.replica === replica ? 'recording_not_found' : 'recording_elsewhere',
      } as const);
    },

    /** Ends it first when it goes on. */
    async remove(id: string, caller: Caller, origin: Origin): Promise<Found> {
      const ended = await stop(id, caller);
      if (!ended.ok) return ended;
      const done = await orRollBack(inTransaction, async (tx) => {
        const gone = await recordDeleted(tx, ended.value.id, caller.user.id, origin);
        if (gone === null) return refuse({ code: 'recording_not_found' });
        return ok(gone);
      });
      if (!done.ok) return done;
      await files.remove(done.value.id);
      messages.removed(done.value.id);
      return done;
    },

    /** After a start: ends what this process was recording when it died. */
    async takeOver(): Promise<void> {
      await settleAll(await repositories.recordings.silent(0, replica));
    },

    /** Ends what dead processes left, and removes files that belong to nothing; for a timer. */
    async sweep(): Promise<void> {
      await settleAll(await repositories.recordings.silent(SILENT_SECONDS, null));
      const old = await files.untouched(ORPHAN_AFTER_MS);
      const known = await repositories.recordings.known(old);
      for (const id of old) if (!known.has(id)) await files.remove(id);
    },

    tick: live.tick,
    idle: live.idle,
  };
}
