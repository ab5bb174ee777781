import type { PoolMember } from '../../../domain/containers/warm-pool.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { SeenMember, WarmPoolRepository } from '../../../ports/containers/warm-pool-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export function memoryWarmPool(state: MemoryState, clock: Clock): WarmPoolRepository {
  type Entry = MemoryState['warmPool'][number];
  const leaseEnd = (seconds: number): Date => new Date(clock.now().getTime() + seconds * 1000);
  const isOver = (entry: Entry): boolean => entry.leaseUntil <= clock.now();
  const isSeen = (entry: Entry, seen: SeenMember): boolean =>
    entry.dbId === seen.dbId && entry.state === seen.state;
  const mayEnd = (entry: Entry, seen: SeenMember, owner: string): boolean =>
    isSeen(entry, seen) && (entry.state === 'ready' || entry.leaseOwner === owner || isOver(entry));
  const drop = (which: (entry: Entry) => boolean): boolean => {
    const kept = state.warmPool.filter((one) => !which(one));
    const hit = kept.length < state.warmPool.length;
    state.warmPool = kept;
    return hit;
  };
  const change = (which: (entry: Entry) => boolean, to: Partial<Entry>): boolean => {
    const hit = state.warmPool.some(which);
    state.warmPool = state.warmPool.map((one) => (which(one) ? { ...one, ...to } : one));
    return hit;
  };

  return {
    list: async (owner, own) =>
      state.warmPool.map((entry) => ({
        ...memberOf(entry),
        abandoned: isOver(entry) || (own && entry.leaseOwner === owner),
      })),
    ids: async () => new Set(state.warmPool.map((one) => one.dbId)),
    async begin(member, size, owner, leaseSeconds) {
      const counted = state.warmPool.filter((one) => one.state === 'making' || one.state === 'ready');
      if (counted.length >= size) return false;
      const lease = { leaseOwner: owner, leaseUntil: leaseEnd(leaseSeconds) };
      state.warmPool.push({ ...member, ...lease, state: 'making', runtimeId: null, quota: null });
      return true;
    },
    async renew(dbId, owner, leaseSeconds) {
      change(
        (one) => one.dbId === dbId && one.leaseOwner === owner && ['making', 'removing'].includes(one.state),
        { leaseUntil: leaseEnd(leaseSeconds) },
      );
    },
    markReady: async (dbId, owner, made) =>
      change((one) => one.dbId === dbId && one.leaseOwner === owner && one.state === 'making', {
        state: 'ready',
        ...made,
      }),
    retire: async (member, owner, leaseSeconds) =>
      change((one) => mayEnd(one, member, owner), {
        state: 'removing',
        leaseOwner: owner,
        leaseUntil: leaseEnd(leaseSeconds),
      }),
    forget: async (member, owner) =>
      ['claiming', 'removing'].includes(member.state) &&
      drop((one) => isSeen(one, member) && one.leaseOwner === owner),
    leave: async (member, owner) => drop((one) => mayEnd(one, member, owner)),
    async reserve({ node, image, imageId, quota, diskMb }, owner, leaseSeconds) {
      const found = state.warmPool.find(
        (one) =>
          one.state === 'ready' &&
          one.node === node &&
          one.image === image &&
          one.imageId === imageId &&
          (one.quota === null || one.quota === quota) &&
          (diskMb === null || one.resources.diskMb === diskMb),
      );
      if (found === undefined) return null;
      const lease = { leaseOwner: owner, leaseUntil: leaseEnd(leaseSeconds) };
      change((one) => one === found, { state: 'claiming', ...lease });
      return { ...memberOf(found), state: 'claiming' };
    },
  };
}

const memberOf = ({ leaseOwner: _owner, leaseUntil: _until, ...member }: PoolMember & Lease): PoolMember =>
  member;

type Lease = { readonly leaseOwner: string; readonly leaseUntil: Date };
