import { EVENTS_KEPT_HOURS, EVENTS_SWEPT_HOURS } from '../../domain/events.ts';
import type { Clock } from '../../ports/clock.ts';
import type { EventLog, StoredEvent } from '../../ports/event-log.ts';
import type { MemoryState } from './memory-state.ts';

type LoggedEvent = MemoryState['events'][number];

const HOUR_MS = 3_600_000;

const isAdministrator = ({ role, disabledAt, deletedAt }: MemoryState['users'][number]): boolean =>
  role === 'admin' && disabledAt === null && deletedAt === null;

/** The owner, and users with whom the container was shared both then and now; a delete ends that. */
function audienceOf(state: MemoryState, event: LoggedEvent, now: Date): StoredEvent['audience'] {
  const { ownerId, audience, dbId, type, position, createdAt } = event;
  if (audience === 'everybody') return audience;
  if (ownerId === null) return state.users.filter(isAdministrator).map(({ id }) => id);
  const shares = state.collaborations.filter(
    ({ dbId: sharedDbId, endedAt, expiresAt }) =>
      sharedDbId === dbId &&
      expiresAt > now &&
      (endedAt === null || (type === 'container_deleted' && endedAt >= createdAt)),
  );
  const participations = state.participations.filter(
    ({ collaborationId, joinedAfter, leftAt }) =>
      leftAt === null && joinedAfter < position && shares.some(({ id }) => id === collaborationId),
  );
  return [...new Set([ownerId, ...participations.map(({ userId }) => userId)])];
}

/** `committed` resolves when no transaction is active, since reads must be final. */
export function memoryEvents(state: MemoryState, clock: Clock, committed: () => Promise<unknown>): EventLog {
  /** Whether this event and the one after it are older. */
  const areOlder = (at: number, hours: number): boolean => {
    const before = clock.now().getTime() - hours * HOUR_MS;
    const [one, next] = state.events.slice(at, at + 2);
    return [one, next].every((event) => event !== undefined && event.createdAt.getTime() <= before);
  };
  const mayBeSeen = (event: LoggedEvent, userId: string): boolean => {
    const audience = audienceOf(state, event, clock.now());
    return audience === 'everybody' || audience.includes(userId);
  };
  const toEvent = (event: LoggedEvent): StoredEvent => ({
    id: String(event.position),
    type: event.type,
    dbId: event.dbId,
    data: event.data,
    time: event.createdAt,
    audience: audienceOf(state, event, clock.now()),
    isForAdministrators: event.audience === 'administrators',
  });

  return {
    async append(event) {
      state.lastEvent += 1;
      state.events.push({ ...event, position: state.lastEvent, createdAt: clock.now() });
    },

    async end() {
      await committed();
      return String(state.lastEvent);
    },

    async after(position, limit) {
      await committed();
      const later = state.events.filter((one) => one.position > Number(position));
      const isHere = position === '0' || state.events.some((one) => String(one.position) === position);
      return { events: later.slice(0, limit).map(toEvent), waiting: false, isGone: !isHere };
    },

    async seenBy(userId, { after, upTo }, limit) {
      const part = state.events.filter(
        (one) => one.position > Number(after) && one.position <= Number(upTo) && mayBeSeen(one, userId),
      );
      return part.slice(0, limit).map(toEvent);
    },

    async keepsSince(id) {
      await committed();
      const at = state.events.findIndex((one) => String(one.position) === id);
      return at !== -1 && !areOlder(at, EVENTS_KEPT_HOURS);
    },

    async sweep() {
      state.events = state.events.filter((_, at) => !areOlder(at, EVENTS_SWEPT_HOURS));
    },
  };
}
