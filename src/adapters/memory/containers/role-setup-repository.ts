import type { Container } from '../../../domain/containers/container.ts';
import { type RoleSetup, WAITS } from '../../../domain/containers/role-setup.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { RoleSetupRepository } from '../../../ports/containers/role-setup-repository.ts';
import { asContainer, type MemoryState, type StoredContainer } from '../memory-state.ts';

export function memoryRoleSetups(state: MemoryState, clock: Clock): RoleSetupRepository {
  const leases = () => state.roleSetupLeases;
  const leaseEnd = (seconds: number): Date => new Date(clock.now().getTime() + seconds * 1000);
  const find = (dbId: string) => state.containers.find((one) => one.dbId === dbId) ?? null;
  const write = (container: StoredContainer, roleSetup: RoleSetup): Container => {
    const changed = { ...container, roleSetup };
    state.containers = state.containers.map((one) => (one.dbId === changed.dbId ? changed : one));
    return asContainer(state, changed);
  };
  const isFree = ({ dbId }: StoredContainer, owner: string, own: boolean): boolean => {
    const lease = leases().get(dbId);
    return lease === undefined || lease.until <= clock.now() || (own && lease.owner === owner);
  };
  return {
    findForUpdate: async (dbId) => {
      const row = find(dbId);
      return row === null ? null : asContainer(state, row);
    },
    async set(dbId, setup) {
      const container = find(dbId);
      if (container === null) throw new Error(`the row of container ${dbId} is gone`);
      leases().delete(dbId);
      return write(container, setup);
    },
    async takeUp(owner, leaseSeconds, own, limit) {
      const due = whatIsDue(state, (one) => isFree(one, owner, own)).slice(0, limit);
      return due.map((container) => {
        const { id, detail } = container.roleSetup;
        state.roleSetupsBegunAt.set(container.dbId, clock.now());
        leases().set(container.dbId, { owner, until: leaseEnd(leaseSeconds) });
        const said = detail === WAITS ? null : detail;
        return write(container, { status: 'installing', id: id ?? '', detail: said });
      });
    },
    async record(id, owner, setup) {
      const container = state.containers.find(({ roleSetup }) => roleSetup.id === id);
      if (container === undefined || leases().get(container.dbId)?.owner !== owner) return null;
      if (setup.id === null) leases().delete(container.dbId);
      return write(container, setup);
    },
    async renew(ids, owner, leaseSeconds) {
      for (const { dbId, roleSetup } of state.containers) {
        const isMine = ids.includes(roleSetup.id ?? '') && leases().get(dbId)?.owner === owner;
        if (isMine) leases().set(dbId, { owner, until: leaseEnd(leaseSeconds) });
      }
    },
    async release(id, owner) {
      const found = state.containers.find(({ roleSetup }) => roleSetup.id === id);
      if (found && leases().get(found.dbId)?.owner === owner) leases().delete(found.dbId);
    },
  };
}

/** Of each user one, if none is in progress; both containers and users whose last attempt is longest ago come first. */
function whatIsDue(
  { containers, roleSetupsBegunAt }: MemoryState,
  isFree: (container: StoredContainer) => boolean,
): readonly StoredContainer[] {
  const wanted = containers.filter((one) => one.roleSetup.id !== null && one.state === 'running');
  const busy = new Set(wanted.filter((one) => !isFree(one)).map(({ ownerId }) => ownerId));
  const begunMs = ({ dbId }: StoredContainer): number => roleSetupsBegunAt.get(dbId)?.getTime() ?? 0;
  const lastMs = ({ ownerId }: StoredContainer): number =>
    Math.max(...containers.filter((one) => one.ownerId === ownerId).map(begunMs));
  const due = wanted.filter(({ ownerId }) => !busy.has(ownerId)).toSorted((a, b) => begunMs(a) - begunMs(b));
  return due
    .filter(({ ownerId, dbId }) => due.find((one) => one.ownerId === ownerId)?.dbId === dbId)
    .toSorted((a, b) => lastMs(a) - lastMs(b) || a.createdAt.getTime() - b.createdAt.getTime());
}
