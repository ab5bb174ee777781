import type { Clock } from '../../../ports/clock.ts';
import type { ParticipationRepository } from '../../../ports/terminals/participation-repository.ts';
import type { MemoryState } from '../memory-state.ts';
import { sharesOf } from './shares.ts';

export function memoryParticipations(state: MemoryState, clock: Clock): ParticipationRepository {
  const { rows, isLive, participationsOf, present, changeParticipation } = sharesOf(state, clock);
  return {
    async admit(participation) {
      const known = participationsOf(participation.collaborationId).find(
        ({ userId }) => userId === participation.userId,
      );
      const joined = { joinedAt: clock.now(), joinedAfter: state.lastEvent, leftAt: null, isRemoved: false };
      if (known === undefined) state.participations.push({ ...participation, ...joined });
      else if (known.leftAt !== null) changeParticipation(participation, joined);
    },

    dismiss: async (participation) => changeParticipation(participation, { leftAt: clock.now() }),
    putOut: async (participation) =>
      changeParticipation(participation, { leftAt: clock.now(), isRemoved: true }),

    stillActive: async (participations) =>
      participations.filter(({ collaborationId, userId }) => {
        const row = rows().find((one) => one.id === collaborationId);
        return row !== undefined && isLive(row) && present(row.id).some((one) => one.userId === userId);
      }),
  };
}
