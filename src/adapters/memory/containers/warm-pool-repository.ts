import type { PoolMember } from '../../../domain/containers/warm-pool.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { WarmPoolRepository } from '../../../ports/containers/warm-pool-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export function memoryWarmPool(state: MemoryState, clock: Clock): WarmPoolRepository {
  type Entry = MemoryState['warmPool'][number];
  const leaseEnd = (seconds: number): Date => new Date(clock.now().getTime() + seconds * 1000);
  const isOver = (entry: Entry): boolean => entry.leaseUntil <= clock.now();
  const mayEnd = (entry: Entry, owner: string): boolean =>
    entry.state === 'ready' || entry.leaseOwner === owner || isOver(entry);
  const drop = (dbId: string): void => {
    state.warmPool = state.warmPool.filter((one) => one.dbId !== dbId);
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
    retire: async (dbId, owner, leaseSeconds) =>
      change((one) => one.dbId === dbId && mayEnd(one, owner), {
        state: 'removing',
        leaseOwner: owner,
        leaseUntil: leaseEnd(leaseSeconds),
      }),
    async forget(dbId, owner) {
      const found = state.warmPool.find((one) => one.dbId === dbId && one.leaseOwner === owner);
      if (found?.state !== 'claiming' && found?.state !== 'removing') return false;
      drop(dbId);
      return true;
    },
    async leave(dbId, owner) {
      if (state.warmPool.some((one) => one.dbId === dbId && mayEnd(one, owner))) drop(dbId);
    },
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
