import { batchedLookup } from '../../concurrency/batch.ts';
import { DEAD_AFTER_SECONDS, type TerminalLease } from '../../domain/terminals/terminal-reaping.ts';
import type {
  NewTerminalLease,
  TerminalLeaseRepository,
} from '../../ports/terminals/terminal-lease-repository.ts';

/** Which process it is: a replica, and which start of it. */
export type Incarnation = { readonly replica: string; readonly incarnation: string };

/** Where a terminal is. */
type At = Pick<NewTerminalLease, 'dbId' | 'runtimeId' | 'muxSession'>;

export type TerminalLeases = ReturnType<typeof terminalLeases>;

const RENEW_EVERY_MS = 15_000;
/** What was renewed later than this may have been missed in between. */
const GAP_MS = 30_000;
/** After an outage of the database the others need so long to say that they live. */
const STEADY_MS = 20_000;

/** Writes down which terminals in containers this process has, before they are opened and until they have ended. */
export function terminalLeases(
  repository: TerminalLeaseRepository,
  me: Incarnation,
  monotonicMs: () => number,
) {
  const mine = new Map<string, At & { isEnding: boolean }>();
  let renewedMs: number | null = null;
  let steadySinceMs = 0;
  /** Of one that is ending the process ends the session by itself if it is the last. */
  const isTheirs = ({ incarnation, silentSeconds, isEnding }: TerminalLease): boolean =>
    incarnation !== me.incarnation && silentSeconds <= DEAD_AFTER_SECONDS && !isEnding;
  // Hundreds end at the same time, and each asks twice.
  const leasesIn = batchedLookup(async (dbIds) => {
    const found = dbIds.map(async (id) => [id, await repository.inContainer(id)] as const);
    return new Map(await Promise.all(found));
  });

  async function renew(): Promise<void> {
    await repository.renew(me.incarnation);
    const nowMs = monotonicMs();
    if (renewedMs === null || nowMs - renewedMs > GAP_MS) steadySinceMs = nowMs;
    renewedMs = nowMs;
  }

  return {
    ...me,
    /** Those that are being opened or ended as well. */
    streamIds: (): ReadonlySet<string> => new Set(mine.keys()),

    /** Whether its session was on no record: nothing is in it yet. */
    async take(streamId: string, { dbId, runtimeId, muxSession }: At): Promise<boolean> {
      mine.set(streamId, { dbId, runtimeId, muxSession, isEnding: false });
      if (renewedMs === null) await renew();
      return await repository.put({ streamId, dbId, runtimeId, muxSession, ...me });
    },

    /** Nobody is shown it any more. */
    ending(streamId: string): void {
      const lease = mine.get(streamId);
      if (lease !== undefined) lease.isEnding = true;
    },

    /** The same for other processes. */
    markEnding: (streamId: string): Promise<void> => repository.markEnding(streamId),

    /** Whether somebody shows the session, in this process or in another. */
    async isShown({ dbId, runtimeId, muxSession }: At): Promise<boolean> {
      const isThere = (at: Pick<At, 'runtimeId' | 'muxSession'>): boolean =>
        at.runtimeId === runtimeId && at.muxSession === muxSession;
      if ([...mine.values()].some((lease) => isThere(lease) && !lease.isEnding)) return true;
      return ((await leasesIn(dbId)) ?? []).some((lease) => isThere(lease) && isTheirs(lease));
    },

    /** It has ended in the container. */
    async drop(streamId: string): Promise<void> {
      mine.delete(streamId);
      await repository.remove([streamId]);
    },

    /** What is left of it in the container is looked after by whoever comes first. */
    leave: (streamId: string): void => void mine.delete(streamId),

    /** Says that this process lives; for a timer. */
    async renewDue(): Promise<void> {
      if (renewedMs === null || monotonicMs() - renewedMs >= RENEW_EVERY_MS) await renew();
    },

    /** Whether it has said so for a while, without a gap. */
    isSteady(): boolean {
      const nowMs = monotonicMs();
      return renewedMs !== null && nowMs - renewedMs <= GAP_MS && nowMs - steadySinceMs >= STEADY_MS;
    },
  };
}
