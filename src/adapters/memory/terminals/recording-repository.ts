import { countedBytes, type Recording } from '../../../domain/terminals/recording.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { RecordingRepository } from '../../../ports/terminals/recording-repository.ts';
import type { MemoryState } from '../memory-state.ts';
import { pageOf } from '../pagination.ts';

type StoredRecording = MemoryState['recordings'][number];

/** What is stored of the recordings, and how it changes. */
function recordingsOf(state: MemoryState, clock: Clock) {
  const own = (id: string, userId: string): StoredRecording | undefined =>
    state.recordings.find((one) => one.id === id && one.userId === userId);
  const active = (id: string, userId: string): StoredRecording | undefined => {
    const found = own(id, userId);
    return found?.state === 'recording' ? found : undefined;
  };
  const change = (before: StoredRecording, to: Partial<Recording>): StoredRecording => {
    const after = { ...before, ...to, seenAt: clock.now() };
    state.recordings = state.recordings.map((one) => (one.id === before.id ? after : one));
    return after;
  };
  return { own, active, change };
}

export function memoryRecordings(state: MemoryState, clock: Clock): RecordingRepository {
  const { own, active, change } = recordingsOf(state, clock);
  return {
    async insert(recording) {
      const now = clock.now();
      const fresh = { state: 'recording', sizeBytes: 0, durationMs: 0, endedAt: null } as const;
      const made = { ...recording, ...fresh, startedAt: now, seenAt: now };
      state.recordings.push(made);
      return toRecording(made);
    },

    find: async (id, userId) => orNull(own(id, userId)),

    async page(userId, dbIds, request) {
      const all = state.recordings.filter(
        (one) => one.userId === userId && (dbIds === null || dbIds.includes(one.dbId)),
      );
      const { items, next } = pageOf(all.reverse(), request);
      return { items: items.map(toRecording), next };
    },

    usedBytes: async (userId) =>
      state.recordings
        .filter((one) => one.userId === userId)
        .reduce((sum, { sizeBytes }) => sum + countedBytes(sizeBytes), 0),

    async progress(id, userId, facts) {
      const found = active(id, userId);
      if (found === undefined) return false;
      change(found, facts);
      return true;
    },

    async end(id, userId, end) {
      const found = active(id, userId);
      return found === undefined ? null : toRecording(change(found, { ...end, endedAt: clock.now() }));
    },

    activeIn: async (dbId) =>
      state.recordings.filter((one) => one.dbId === dbId && one.state === 'recording').map(toRecording),

    async remove(id, userId) {
      const found = own(id, userId);
      state.recordings = state.recordings.filter((one) => one !== found);
      return orNull(found);
    },

    async silent(forSeconds, replica) {
      const latest = clock.now().getTime() - forSeconds * 1000;
      return state.recordings
        .filter((one) => one.state === 'recording' && one.seenAt.getTime() <= latest)
        .filter((one) => replica === null || one.replica === replica)
        .map(toRecording);
    },

    known: async (ids) => new Set(state.recordings.map(({ id }) => id).filter((id) => ids.includes(id))),
  };
}

const toRecording = ({ seenAt: _, ...recording }: StoredRecording): Recording => recording;

const orNull = (stored: StoredRecording | undefined): Recording | null =>
  stored === undefined ? null : toRecording(stored);
