import { countedBytes, type Recording } from '../../../domain/terminals/recording.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { RecordingRepository } from '../../../ports/terminals/recording-repository.ts';
import type { MemoryState } from '../memory-state.ts';
import { pageOf } from '../pagination.ts';

export function memoryRecordings(state: MemoryState, clock: Clock): RecordingRepository {
  const own = (id: string, userId: string) =>
    state.recordings.find((one) => one.id === id && one.userId === userId);
  const going = (id: string, userId: string) => {
    const found = own(id, userId);
    return found?.state === 'recording' ? found : undefined;
  };
  const put = <T extends MemoryState['recordings'][number]>(before: T, change: Partial<Recording>): T => {
    const after = { ...before, ...change, seenAt: clock.now() };
    state.recordings = state.recordings.map((one) => (one.id === before.id ? after : one));
    return after;
  };
  return {
    async insert(recording) {
      const now = clock.now();
      const fresh = { state: 'recording', sizeBytes: 0, durationMs: 0, endedAt: null } as const;
      const made = { ...recording, ...fresh, startedAt: now, seenAt: now };
      state.recordings.push(made);
      return toRecording(made);
    },

    async find(id, userId) {
      const found = own(id, userId);
      return found === undefined ? null : toRecording(found);
    },

    async page(userId, dbIds, request) {
      const all = state.recordings.filter(
        (one) => one.userId === userId && (dbIds === null || dbIds.includes(one.dbId)),
      );
      const { items, next } = pageOf(all.reverse(), request);
      return { items: items.map(toRecording), next };
    },

    async usedBytes(userId) {
      const all = state.recordings.filter((one) => one.userId === userId);
      return all.reduce((sum, { sizeBytes }) => sum + countedBytes(sizeBytes), 0);
    },

    async progress(id, userId, facts) {
      const found = going(id, userId);
      if (found === undefined) return false;
      put(found, facts);
      return true;
    },

    async end(id, userId, end) {
      const found = going(id, userId);
      return found === undefined ? null : toRecording(put(found, { ...end, endedAt: clock.now() }));
    },

    activeIn: async (dbId) =>
      state.recordings.filter((one) => one.dbId === dbId && one.state === 'recording').map(toRecording),

    async remove(id, userId) {
      const found = own(id, userId);
      state.recordings = state.recordings.filter((one) => one !== found);
      return found === undefined ? null : toRecording(found);
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

const toRecording = ({ seenAt: _, ...recording }: MemoryState['recordings'][number]): Recording => recording;
