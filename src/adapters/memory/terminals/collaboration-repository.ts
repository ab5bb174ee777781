import type { Container } from '../../../domain/containers/container.ts';
import { guestExpired } from '../../../domain/identity/user.ts';
import type { Collaboration } from '../../../domain/terminals/collaboration.ts';
import type { Clock } from '../../../ports/clock.ts';
import type {
  CollaborationRepository,
  Participation,
  SharedContainer,
} from '../../../ports/terminals/collaboration-repository.ts';
import { matches } from '../containers/container-repository.ts';
import { asContainer, type MemoryState } from '../memory-state.ts';

type Row = MemoryState['collaborations'][number];
type Taken = MemoryState['participations'][number];

export function memoryCollaborations(state: MemoryState, clock: Clock): CollaborationRepository {
  const shares = sharesOf(state, clock);
  return {
    ...collaborations(state, clock, shares),
    ...participants(state, clock, shares),
    ...sharedTerminals(state, shares),
  };
}

function sharesOf(state: MemoryState, clock: Clock) {
  const rows = () => state.collaborations;
  const nowMs = (): number => clock.now().getTime();
  const containerOf = (row: Row): Container | undefined => {
    const found = state.containers.find(({ dbId, state: at }) => dbId === row.dbId && at !== 'deleted');
    return found && asContainer(state, found);
  };
  const mayOwn = (row: Row): boolean => {
    const owner = state.users.find(({ id }) => id === row.ownerId);
    return owner?.disabledAt === null && !guestExpired(owner, clock.now());
  };
  const isOver = (row: Row): boolean =>
    row.expiresAt.getTime() <= nowMs() || containerOf(row) === undefined || !mayOwn(row);
  const isLive = (row: Row): boolean => row.endedAt === null && !isOver(row);
  const participationsOf = (id: string): readonly Taken[] =>
    state.participations.filter((participation) => participation.collaborationId === id);
  const present = (id: string) => participationsOf(id).filter(({ leftAt }) => leftAt === null);
  const nameOf = (userId: string): string => state.users.find(({ id }) => id === userId)?.username ?? '';
  const toCollaboration = ({
    codeHash: _,
    cleanedUpAt: _settled,
    size: _size,
    ...row
  }: Row): Collaboration => ({
    ...row,
    participants: present(row.id).map(({ userId, joinedAt }) => ({
      userId,
      username: nameOf(userId),
      joinedAt,
    })),
    removed: participationsOf(row.id)
      .filter(({ isRemoved }) => isRemoved)
      .map(({ userId }) => userId),
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
    const best = new Map<string, SharedContainer>();
    for (const row of given.toSorted((a, b) => a.mode.localeCompare(b.mode))) {
      const container = containerOf(row);
      if (container === undefined || best.has(container.dbId)) continue;
      best.set(container.dbId, { container, access: { collaborationId: row.id, mode: row.mode } });
    }
    return [...best.values()].sort(
      (a, b) => b.container.createdAt.getTime() - a.container.createdAt.getTime(),
    );
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

type Shares = ReturnType<typeof sharesOf>;

const collaborations = (
  state: MemoryState,
  clock: Clock,
  { rows, isOver, isLive, toCollaboration, find, change }: Shares,
): Pick<
  CollaborationRepository,
  | 'insert'
  | 'find'
  | 'findForUpdate'
  | 'findByCodeForUpdate'
  | 'listLive'
  | 'end'
  | 'endAllOf'
  | 'overdue'
  | 'awaitingCleanUp'
  | 'markCleanedUp'
> => ({
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
  overdue: async () =>
    rows()
      .filter((row) => row.endedAt === null && isOver(row))
      .map(({ id }) => id),
  awaitingCleanUp: async () =>
    rows()
      .filter(({ endedAt, cleanedUpAt }) => endedAt !== null && cleanedUpAt === null)
      .map(({ id }) => id),
  markCleanedUp: async (id) => change(id, { cleanedUpAt: clock.now() }),
});

const participants = (
  state: MemoryState,
  clock: Clock,
  { rows, isLive, participationsOf, present, changeParticipation }: Shares,
): Pick<CollaborationRepository, 'admit' | 'dismiss' | 'putOut' | 'leftovers'> => ({
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

  async leftovers(id) {
    const dbId = rows().find((row) => row.id === id)?.dbId;
    const others = rows().filter(
      (row) => row.id !== id && row.dbId === dbId && row.mode === 'control' && isLive(row),
    );
    const busy = new Set(others.flatMap((row) => present(row.id).map(({ userId }) => userId)));
    return participationsOf(id)
      .map(({ userId }) => userId)
      .filter((userId) => !busy.has(userId));
  },
});

const sharedTerminals = (
  state: MemoryState,
  { rows, isLive, present, nameOf, shared }: Shares,
): Pick<
  CollaborationRepository,
  'findShared' | 'listShared' | 'stillActive' | 'isShared' | 'scene' | 'noteSize'
> => ({
  findShared: async (ref, userId) => shared(userId).find(({ container }) => matches(container, ref)) ?? null,
  listShared: async (userId) => shared(userId),

  stillActive: async (participations) =>
    participations.filter(({ collaborationId, userId }) => {
      const row = rows().find((one) => one.id === collaborationId);
      return row !== undefined && isLive(row) && present(row.id).some((one) => one.userId === userId);
    }),

  isShared: async (dbId) => rows().some((row) => row.dbId === dbId && isLive(row)),

  async scene(dbId) {
    const live = rows().filter((row) => row.dbId === dbId && isLive(row));
    const [first] = live;
    if (first === undefined) return null;
    const here = new Set(state.terminals.filter((one) => one.dbId === dbId).map(({ userId }) => userId));
    const owner = { userId: first.ownerId, owner: true, mode: 'control' } as const;
    const others = new Map(
      live
        .toSorted((a, b) => b.mode.localeCompare(a.mode))
        .flatMap(({ id, mode }) => present(id).map(({ userId }) => [userId, mode] as const)),
    );
    const all = [owner, ...[...others].map(([userId, mode]) => ({ userId, owner: false, mode }))];
    return {
      size: first.size,
      present: all
        .filter(({ userId }) => here.has(userId))
        .map(({ userId, owner, mode }) => ({ userId, username: nameOf(userId), owner, mode }))
        .sort((a, b) => Number(b.owner) - Number(a.owner) || a.username.localeCompare(b.username)),
    };
  },

  async noteSize(dbId, size) {
    state.collaborations = rows().map((row) => (row.dbId === dbId && isLive(row) ? { ...row, size } : row));
  },
});
