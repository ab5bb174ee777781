import { batchedLookup } from '../../../concurrency/batch.ts';
import { DEAD_AFTER_SECONDS, type TerminalLease } from '../../../domain/terminals/terminal-reaping.ts';
import type {
  NewTerminalLease,
  TerminalLeaseRepository,
} from '../../../ports/terminals/terminal-lease-repository.ts';

/** A process: a replica, and one of its starts. */
export type ReplicaRun = { readonly replica: string; readonly runId: string };

/** A session in a container. */
type At = Pick<NewTerminalLease, 'dbId' | 'runtimeId' | 'muxSession'>;

export type TerminalLeases = ReturnType<typeof terminalLeases>;

const RENEW_EVERY_MS = 15_000;
/** If two renewals are further apart, other processes may have declared this one dead meanwhile. */
const GAP_MS = 30_000;
/** After a database outage the others need this long to renew their leases. */
const STEADY_MS = 20_000;

/** The renewals of this process's lease. */
function leaseRenewals(renewLease: () => Promise<void>, monotonicMs: () => number) {
  let renewedMs: number | null = null;
  let steadySinceMs = 0;

  async function renew(): Promise<void> {
    await renewLease();
    const nowMs = monotonicMs();
    if (renewedMs === null || nowMs - renewedMs > GAP_MS) steadySinceMs = nowMs;
    renewedMs = nowMs;
  }

  return {
    /** Renews it for the first time. */
    async begin(): Promise<void> {
      if (renewedMs === null) await renew();
    },

    /** Renews it; for a timer. */
    async renewDue(): Promise<void> {
      if (renewedMs === null || monotonicMs() - renewedMs >= RENEW_EVERY_MS) await renew();
    },

    /** Whether it has been renewed for a while without a gap. */
    isSteady(): boolean {
      const nowMs = monotonicMs();
      return renewedMs !== null && nowMs - renewedMs <= GAP_MS && nowMs - steadySinceMs >= STEADY_MS;
    },
  };
}

/** Records this process's terminals in containers, from before they open until they have ended. */
export function terminalLeases(
  repository: TerminalLeaseRepository,
  me: ReplicaRun,
  monotonicMs: () => number,
) {
  const mine = new Map<string, At & { isEnding: boolean }>();
  const { begin, ...renewals } = leaseRenewals(() => repository.renew(me.runId), monotonicMs);
  /** A process that is ending one ends its session itself if it is the last. */
  const isTheirs = ({ runId, silentSeconds, isEnding }: TerminalLease): boolean =>
    runId !== me.runId && silentSeconds <= DEAD_AFTER_SECONDS && !isEnding;
  // Hundreds may end at once, and each asks twice.
  const leasesIn = batchedLookup(async (dbIds) => {
    const found = dbIds.map(async (id) => [id, await repository.inContainer(id)] as const);
    return new Map(await Promise.all(found));
  });

  return {
    ...me,
    ...renewals,

    /** Including those being opened or ended. */
    streamIds: (): ReadonlySet<string> => new Set(mine.keys()),

    /** Returns whether its session had no lease: then it is new. */
    async take(streamId: string, { dbId, runtimeId, muxSession }: At): Promise<boolean> {
      mine.set(streamId, { dbId, runtimeId, muxSession, isEnding: false });
      await begin();
      return await repository.put({ streamId, dbId, runtimeId, muxSession, ...me });
    },

    /** It has no viewer any more. */
    ending(streamId: string): void {
      const lease = mine.get(streamId);
      if (lease !== undefined) lease.isEnding = true;
    },

    /** The same for other processes. */
    markEnding: (streamId: string): Promise<void> => repository.markEnding(streamId),

    /** Whether any process shows the session. */
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

    /** Leaves what remains in the container to the reaper of any process. */
    leave: (streamId: string): void => void mine.delete(streamId),
  };
}
