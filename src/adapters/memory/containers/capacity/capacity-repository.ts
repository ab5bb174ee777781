import { AGENT_NODE } from '../../../../domain/containers/agents/agent.ts';
import type { LiveState, NodeSums, StoredAmount } from '../../../../domain/containers/capacity/capacity.ts';
import type { PersonUse } from '../../../../domain/containers/capacity/person-use.ts';
import { toMb } from '../../../../domain/containers/disk-quota.ts';
import type { Resources } from '../../../../domain/containers/resources.ts';
import { snapshotMb } from '../../../../domain/containers/snapshots/snapshot.ts';
import { countedBytes } from '../../../../domain/terminals/recording.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { CapacityRepository } from '../../../../ports/containers/capacity/capacity-repository.ts';
import { SILENT_SECONDS } from '../../../../ports/terminals/terminal-record-repository.ts';
import { memoryPeople } from '../../identity/people/person-repository.ts';
import type { MemoryState, StoredContainer, StoredSnapshot } from '../../memory-state.ts';

const AT_REST: readonly string[] = ['stopped', 'failed'];

const sum = <T>(items: readonly T[], of: (item: T) => number): number =>
  items.reduce((total, item) => total + of(item), 0);

const limitsOf = (boxes: readonly StoredContainer[]): Resources => ({
  memoryMb: sum(boxes, ({ resources }) => resources.memoryMb),
  cpuMillicores: sum(boxes, ({ resources }) => resources.cpuMillicores),
  diskMb: sum(boxes, ({ resources }) => resources.diskMb),
});

const diskOf = (boxes: readonly StoredContainer[]): number =>
  sum(boxes, ({ diskUsedMb, layerUsedMb }) => (diskUsedMb ?? 0) + (layerUsedMb ?? 0));

const keptOf = (boxes: readonly StoredContainer[]): StoredAmount => ({
  count: boxes.length,
  usedMb: sum(boxes, ({ diskUsedMb }) => diskUsedMb ?? 0),
});

const snapshotsOf = (snapshots: readonly StoredSnapshot[]): StoredAmount => ({
  count: snapshots.filter(({ forkIds, deletedAt }) => forkIds === null || deletedAt !== null).length,
  usedMb: sum(snapshots, snapshotMb),
});

/** A user's things, or everybody's. */
function thingsOf(state: MemoryState, isMeant: (ownerId: string) => boolean) {
  const boxes = state.containers.filter((one) => isMeant(one.ownerId) && one.node !== AGENT_NODE);
  const all = state.snapshots.filter(
    (one) => isMeant(one.ownerId) && one.purgedAt === null && one.removedAt === null,
  );
  return {
    live: boxes.filter((one) => one.state !== 'deleted'),
    kept: boxes.filter(
      (one) =>
        one.state === 'deleted' &&
        one.runtimeId !== null &&
        state.volumes.get(one.dbId)?.removedAt === undefined,
    ),
    snapshots: all.filter(({ deletedAt }) => deletedAt === null),
    deletedSnapshots: all.filter(({ deletedAt }) => deletedAt !== null),
    recordings: state.recordings.filter(({ userId }) => isMeant(userId)),
  };
}

const bytesOf = (recordings: MemoryState['recordings']): number =>
  sum(recordings, ({ sizeBytes }) => countedBytes(sizeBytes));

/** What a user uses; null: no such user. */
function usesOf(state: MemoryState, clock: Clock) {
  const people = memoryPeople(state, clock);
  const isHeard = ({ lastPingAt }: { readonly lastPingAt: Date }): boolean =>
    lastPingAt.getTime() >= clock.now().getTime() - SILENT_SECONDS * 1000;
  const isLive = ({ revokedAt, expiresAt }: MemoryState['apiTokens'][number]): boolean =>
    revokedAt === null && (expiresAt === null || expiresAt > clock.now());

  return async (userId: string): Promise<PersonUse | null> => {
    const person = await people.find(userId);
    if (person === null) return null;
    const { live, kept, snapshots, deletedSnapshots, recordings } = thingsOf(state, (id) => id === userId);
    const [listed, gone] = [snapshotsOf(snapshots), snapshotsOf(deletedSnapshots)];
    return {
      userId,
      username: person.user.username,
      email: person.user.email,
      tier: person.user.tier,
      containers: live.length,
      running: live.filter((one) => one.state === 'running').length,
      maxContainers: person.maxContainers,
      limits: limitsOf(live),
      diskUsedMb: diskOf(live),
      kept: kept.length + gone.count,
      keptMb: keptOf(kept).usedMb + gone.usedMb,
      snapshots: listed.count,
      snapshotMb: listed.usedMb,
      recordings: recordings.length,
      recordingBytes: bytesOf(recordings),
      terminals: state.terminals.filter((one) => one.userId === userId && isHeard(one)).length,
      tokens: state.apiTokens.filter((one) => one.userId === userId && isLive(one)).length,
      lastSeenAt: person.lastSeenAt,
    };
  };
}

export function memoryCapacity(state: MemoryState, clock: Clock): CapacityRepository {
  const useOf = usesOf(state, clock);

  return {
    async nodes() {
      const { live } = thingsOf(state, () => true);
      return [...Map.groupBy(live, ({ node }) => node)].map(([node, boxes]): NodeSums => {
        const states: Partial<Record<LiveState, number>> = {};
        for (const { state: now } of boxes) if (now !== 'deleted') states[now] = (states[now] ?? 0) + 1;
        const running = boxes.filter((one) => !AT_REST.includes(one.state));
        return { node, states, running: limitsOf(running), all: limitsOf(boxes) };
      });
    },

    async stored() {
      const { live, kept, snapshots, deletedSnapshots, recordings } = thingsOf(state, () => true);
      const members = (of: string): number => state.warmPool.filter((one) => one.state === of).length;
      return {
        volumes: { count: live.length, usedMb: diskOf(live) },
        deletedContainers: keptOf(kept),
        snapshots: snapshotsOf(snapshots),
        deletedSnapshots: snapshotsOf(deletedSnapshots),
        recordings: { count: recordings.length, usedMb: toMb(bytesOf(recordings)) },
        warmPool: { ready: members('ready'), making: members('making') },
      };
    },

    async people() {
      const found = await Promise.all(state.users.map(({ id }) => useOf(id)));
      return found.filter((one) => one !== null).sort((a, b) => (a.username < b.username ? -1 : 1));
    },

    running: async () =>
      state.containers.flatMap(({ state: now, node, runtimeId, ownerId }) =>
        now === 'running' && node !== AGENT_NODE && runtimeId !== null ? [{ runtimeId, ownerId }] : [],
      ),
  };
}
