import type { PoolMember } from '../../../domain/containers/warm-pool.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { WarmPoolRepository } from '../../../ports/containers/warm-pool-repository.ts';
import type { MemoryState } from '../memory-state.ts';

export function memoryWarmPool(state: MemoryState, clock: Clock): WarmPoolRepository {
  type Entry = MemoryState['warmPool'][number];
  const leaseEnd = (seconds: number): Date => new Date(clock.now().getTime() + seconds * 1000);
  const isOver = (entry: Entry): boolean => entry.leaseUntil <= clock.now();
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
      if (state.warmPool.filter((one) => one.state !== 'removing').length >= size) return false;
      const lease = { leaseOwner: owner, leaseUntil: leaseEnd(leaseSeconds) };
      state.warmPool.push({ ...member, ...lease, state: 'making', runtimeId: null, quota: null });
      return true;
    },
    markReady: async (dbId, owner, made) =>
      change((one) => one.dbId === dbId && one.leaseOwner === owner && one.state === 'making', {
        state: 'ready',
        ...made,
      }),
    retire: async (dbId, owner, leaseSeconds) =>
      change(
        (one) => one.dbId === dbId && (one.state === 'ready' || one.leaseOwner === owner || isOver(one)),
        { state: 'removing', leaseOwner: owner, leaseUntil: leaseEnd(leaseSeconds) },
      ),
    async forget(dbId, owner) {
      const found = state.warmPool.find((one) => one.dbId === dbId);
      if (found?.state === 'removing' && found.leaseOwner === owner) drop(dbId);
    },
    async claim({ node, image, imageId, diskMb }) {
      const found = state.warmPool.find(
        (one) =>
          one.state === 'ready' &&
          one.node === node &&
          one.image === image &&
          one.imageId === imageId &&
          (diskMb === null || one.resources.diskMb === diskMb),
      );
      if (found === undefined) return null;
      drop(found.dbId);
      return memberOf(found);
    },
  };
}

const memberOf = ({ leaseOwner: _owner, leaseUntil: _until, ...member }: PoolMember & Lease): PoolMember =>
  member;

type Lease = { readonly leaseOwner: string; readonly leaseUntil: Date };
