import type { Container } from '../../../domain/containers/container.ts';
import { isDisabled } from '../../../domain/identity/people/account-end.ts';
import { guestExpired } from '../../../domain/identity/user.ts';
import { byPermission, type Collaboration } from '../../../domain/terminals/collaboration.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { Participation } from '../../../ports/terminals/participation-repository.ts';
import type { SharedContainer } from '../../../ports/terminals/shared-container-repository.ts';
import { asContainer, type MemoryState } from '../memory-state.ts';

type Row = MemoryState['collaborations'][number];
type Taken = MemoryState['participations'][number];

/** What is stored of the shares, and how it changes. */
export function sharesOf(state: MemoryState, clock: Clock) {
  const rows = () => state.collaborations;
  const nowMs = (): number => clock.now().getTime();
  const containerOf = (row: Row): Container | undefined => {
    const found = state.containers.find(({ dbId, state: at }) => dbId === row.dbId && at !== 'deleted');
    return found && asContainer(state, found);
  };
  const mayOwn = (row: Row): boolean => {
    const owner = state.users.find(({ id }) => id === row.ownerId);
    return owner !== undefined && !isDisabled(owner, clock.now()) && !guestExpired(owner, clock.now());
  };
  const isOver = (row: Row): boolean =>
    row.expiresAt.getTime() <= nowMs() || containerOf(row) === undefined || !mayOwn(row);
  const isLive = (row: Row): boolean => row.endedAt === null && !isOver(row);
  const participationsOf = (id: string): readonly Taken[] =>
    state.participations.filter((participation) => participation.collaborationId === id);
  const present = (id: string) => participationsOf(id).filter(({ leftAt }) => leftAt === null);
  const nameOf = (userId: string): string => state.users.find(({ id }) => id === userId)?.username ?? '';
  const toCollaboration = ({ codeHash: _, cleanedUpAt: __, size: ___, ...row }: Row): Collaboration => ({
    ...row,
    participants: present(row.id).map(({ userId, joinedAt }) => {
      return { userId, username: nameOf(userId), joinedAt };
    }),
    removed: participationsOf(row.id).flatMap(({ isRemoved, userId }) => (isRemoved ? [userId] : [])),
  });
  const find = async (id: string): Promise<Collaboration | null> => {
    const row = rows().find((one) => one.id === id);
    return row === undefined ? null : toCollaboration(row);
  };
  const change = (id: string, to: Partial<Row>): void => {
    state.collaborations = rows().map((row) => (row.id === id ? { ...row, ...to } : row));
  };
  const changeParticipation = ({ collaborationId, userId }: Participation, to: Partial<Taken>): void => {
    state.participations = state.participations.map((participation) =>
      participation.collaborationId === collaborationId && participation.userId === userId
        ? { ...participation, ...to }
        : participation,
    );
  };
  const shared = (userId: string): readonly SharedContainer[] => {
    const given = rows().filter((row) => isLive(row) && present(row.id).some((one) => one.userId === userId));
    return bestAccess(given, containerOf);
  };
  return {
    rows,
    isOver,
    isLive,
    participationsOf,
    present,
    nameOf,
    toCollaboration,
    find,
    change,
    changeParticipation,
    shared,
  };
}

/** Each container once, newest first, by the share that permits most. */
function bestAccess(
  given: readonly Row[],
  containerOf: (row: Row) => Container | undefined,
): readonly SharedContainer[] {
  const best = new Map<string, SharedContainer>();
  for (const row of given.toSorted(byPermission)) {
    const container = containerOf(row);
    if (container === undefined || best.has(container.dbId)) continue;
    best.set(container.dbId, { container, access: { collaborationId: row.id, mode: row.mode } });
  }
  return [...best.values()].sort((a, b) => b.container.createdAt.getTime() - a.container.createdAt.getTime());
}
