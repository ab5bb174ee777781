import { poll } from '../../concurrency/poll.ts';
import type { DomainError } from '../../domain/errors.ts';
import { type Caller, type RequestOrigin, reaches } from '../../domain/identity/caller.ts';
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
import { abandonedRecordings } from './abandoned-recordings.ts';
import type { ActiveRecordings } from './active-recordings.ts';
import type { RecordingMessages } from './recording-messages.ts';
import { recordDeleted } from './recording-records.ts';
import { remoteRecordings } from './remote-recordings.ts';

/** A process that has not ended its recording within this time is dead. */
const STOP = { withinMs: 3_000, everyMs: 50 };

export type RecordingsDeps = {
  readonly storage: Storage;
  readonly acts: Pick<ActRecords, 'record'>;
  readonly files: RecordingFiles;
  readonly live: ActiveRecordings;
  readonly terminals: Pick<Terminals, 'find' | 'underKey'>;
  readonly messages: RecordingMessages;
  readonly replica: string;
  readonly log: Logger;
};

type Found = Result<Recording, DomainError>;

export type Recordings = ReturnType<typeof recordings>;

/** Recordings of the caller's own terminals; another user's look unknown. */
export function recordings(deps: RecordingsDeps) {
  const { storage, live, terminals, messages, log } = deps;
  const { repositories } = storage;
  const elsewhere = remoteRecordings({ repositories, live, terminals, messages, log });
  messages.subscribe({
    stop: (id) => void live.stop(id),
    removed: (id) =>
      void removeFile(deps, id).catch((err: unknown) =>
        log.warn({ err }, 'could not remove the file of a recording'),
      ),
  });
  const { takeOver, sweep } = abandonedRecordings(deps);

  return {
    /** Records an open terminal of the caller's container; returns the active recording if there is one. */
    async start(dbId: string, connectionId: string, caller: Caller, origin: RequestOrigin): Promise<Found> {
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

    stop: (id: string, caller: Caller): Promise<Found> => stop(deps, id, caller),

    find: (id: string, caller: Caller): Promise<Found> => find(deps, id, caller),

    /** Newest first. Throws `UnknownPage`. */
    async list(dbId: string | null, request: PageRequest, caller: Caller): Promise<Page<Recording>> {
      const { user, credential } = caller;
      const reached = credential.kind === 'api_token' ? credential.containers : null;
      if (dbId === null) return await repositories.recordings.page(user.id, reached, request);
      const one = dbId.toLowerCase();
      if (!isUuid(one) || !reaches(caller, one)) return { items: [], next: null };
      return await repositories.recordings.page(user.id, [one], request);
    },

    /** The file's present content. */
    open: (id: string, caller: Caller, origin: RequestOrigin) => open(deps, id, caller, origin),

    /** Ends an active one first. */
    remove: (id: string, caller: Caller, origin: RequestOrigin): Promise<Found> =>
      remove(deps, id, caller, origin),

    takeOver,
    sweep,

    tick: (): Promise<void> => live.tick(),
    idle: (): Promise<void> => live.idle(),
  };
}

async function find(
  { storage: { repositories } }: RecordingsDeps,
  id: string,
  caller: Caller,
): Promise<Found> {
  const found = isUuid(id) ? await repositories.recordings.find(id.toLowerCase(), caller.user.id) : null;
  return found !== null && reaches(caller, found.dbId) ? ok(found) : refuse({ code: 'recording_not_found' });
}

async function stop(deps: RecordingsDeps, id: string, caller: Caller): Promise<Found> {
  const { storage, live, messages } = deps;
  const found = await find(deps, id, caller);
  if (!found.ok || found.value.state !== 'recording') return found;
  const { id: known, userId, sizeBytes, durationMs } = found.value;
  const ended = await live.stop(known);
  if (ended !== null) return ok(ended);
  messages.stop(known);
  const stopped = await poll(async () => {
    const now = await find(deps, known, caller);
    return now.ok && now.value.state === 'recording' ? null : now;
  }, STOP);
  if (stopped !== null) return stopped;
  await storage.repositories.recordings.end(known, userId, { state: 'ended', sizeBytes, durationMs });
  return await find(deps, known, caller);
}

async function open(deps: RecordingsDeps, id: string, caller: Caller, origin: RequestOrigin) {
  const { acts, files, live, replica } = deps;
  const found = await find(deps, id, caller);
  if (!found.ok) return found;
  const recording = { ...found.value, ...live.facts(found.value.id) };
  const file = await files.read(recording.id, recording.sizeBytes);
  if (file === null) {
    const code = recording.replica === replica ? 'recording_not_found' : 'recording_elsewhere';
    return refuse({ code } as const);
  }
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

/** Unless there is still a row: a message only says what to check. */
async function removeFile({ storage, files }: RecordingsDeps, id: string): Promise<void> {
  if (!isUuid(id) || (await storage.repositories.recordings.known([id])).has(id)) return;
  await files.remove(id);
}

async function remove(
  deps: RecordingsDeps,
  id: string,
  caller: Caller,
  origin: RequestOrigin,
): Promise<Found> {
  const { storage, files, messages } = deps;
  const ended = await stop(deps, id, caller);
  if (!ended.ok) return ended;
  const done = await orRollBack(storage.inTransaction, async (tx) => {
    const gone = await recordDeleted(tx, ended.value.id, caller.user.id, origin);
    if (gone === null) return refuse({ code: 'recording_not_found' });
    return ok(gone);
  });
  if (!done.ok) return done;
  await files.remove(done.value.id);
  messages.removed(done.value.id);
  return done;
}
