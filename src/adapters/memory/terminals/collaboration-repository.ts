import type { Clock } from '../../../ports/clock.ts';
import type { CollaborationRepository } from '../../../ports/terminals/collaboration-repository.ts';
import type { MemoryState } from '../memory-state.ts';
import { sharesOf } from './shares.ts';

export function memoryCollaborations(state: MemoryState, clock: Clock): CollaborationRepository {
  const { rows, isLive, toCollaboration, find, change } = sharesOf(state, clock);
  return {
    async insert({ codeHash, minutes, ...asked }) {
      const createdAt = clock.now();
      const row = {
        ...asked,
        createdAt,
        expiresAt: new Date(createdAt.getTime() + minutes * 60_000),
        endedAt: null,
        participants: [],
        removed: [],
        codeHash: codeHash.toString('hex'),
        cleanedUpAt: null,
        size: null,
      };
      state.collaborations.push(row);
      return toCollaboration(row);
    },

    find,
    findForUpdate: find,

    async findByCodeForUpdate(codeHash) {
      const row = rows().find((one) => one.codeHash === codeHash.toString('hex') && isLive(one));
      return row === undefined ? null : toCollaboration(row);
    },

    listLive: async (dbId, ownerId) =>
      rows()
        .filter((row) => row.dbId === dbId && row.ownerId === ownerId && isLive(row))
        .map(toCollaboration)
        .reverse(),

    end: async (id) => change(id, { endedAt: clock.now() }),
    async endAllOf(dbId) {
      const open = rows().filter((row) => row.dbId === dbId && row.endedAt === null);
      for (const { id } of open) change(id, { endedAt: clock.now() });
      return open.map((row) => ({ ...toCollaboration(row), endedAt: clock.now(), participants: [] }));
    },
  };
}
