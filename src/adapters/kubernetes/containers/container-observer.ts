import { POOL_GENERATION } from '../../../domain/containers/warm-pool.ts';
import type {
  ContainerObserver,
  ListedContainer,
  ObservedContainer,
} from '../../../ports/containers/container-runtime.ts';
import type { Namespace } from '../client/namespace.ts';
import type { Bare, Pod } from '../client/objects.ts';
import { DB_ID_LABEL, GENERATION_LABEL, INSTANCE_LABEL, podOfContainer, runtimeIdOf } from './names.ts';
import { podState } from './pod-states.ts';
import { isMarked, type Records } from './records.ts';

/** The installation, and the cluster's name in handles. */
export type Whose = { readonly instanceId: string; readonly node: string };

/** An installation's containers in one namespace. */
export function clusterObserver(
  namespace: Namespace,
  records: Records,
  { instanceId, node }: Whose,
): ContainerObserver {
  /** Not the Pods of the isolation check. */
  const ofContainers = `${INSTANCE_LABEL}=${instanceId},${DB_ID_LABEL}`;
  /** The runtime id of the container that a Pod or a record belongs to. */
  const ownerOf = ({ metadata: { labels = {} } }: Bare): string | null =>
    labels[INSTANCE_LABEL] === instanceId
      ? runtimeIdOf(instanceId, labels[DB_ID_LABEL] ?? '', Number(labels[GENERATION_LABEL]))
      : null;
  function note(
    listed: Map<string, ListedContainer>,
    of: Bare,
    shown: Pick<ListedContainer, 'state' | 'isSilent' | 'isEnding' | 'isMember'>,
  ): void {
    const runtimeId = ownerOf(of);
    if (runtimeId === null) return;
    const { labels = {} } = of.metadata;
    const [dbId, generation] = [labels[DB_ID_LABEL] ?? '', Number(labels[GENERATION_LABEL])];
    // Only its record says that it is one.
    const isMember = listed.get(runtimeId)?.isMember;
    const member = isMember === true ? { isMember } : {};
    listed.set(runtimeId, { handle: { node, runtimeId }, dbId, generation, ...member, ...shown });
  }

  return {
    ping: namespace.ping,
    async observe({ runtimeId }) {
      const found = await namespace.get('pods', podOfContainer(runtimeId));
      const seen = found !== null && ownerOf(found) === runtimeId ? observed(found) : null;
      if (seen?.kind === 'running') return seen;
      if ((await records.find(runtimeId)) === null) return { kind: 'gone' };
      return seen ?? { kind: 'stopped', exitCode: 0 };
    },
    async find(dbId, generation) {
      const runtimeId = runtimeIdOf(instanceId, dbId, generation);
      return (await records.find(runtimeId)) === null ? null : { node, runtimeId };
    },
    async findMember(dbId) {
      const runtimeId = runtimeIdOf(instanceId, dbId, POOL_GENERATION);
      return (await records.find(runtimeId))?.isMember === true ? { node, runtimeId } : null;
    },
    async list() {
      // Pods first: the record of each is older.
      const pods = await namespace.listPods(ofContainers);
      const listed = new Map<string, ListedContainer>();
      for (const record of await records.list())
        note(listed, record, { state: 'stopped', ...(isMarked(record) && { isMember: true }) });
      // One whose record was removed from outside still is a container.
      for (const pod of pods) note(listed, pod, shownBy(pod));
      return [...listed.values()];
    },
    watch: (hint) => namespace.watch('pods', ofContainers, hint),
  };
}

function shownBy(pod: Pod): Pick<ListedContainer, 'state' | 'isSilent' | 'isEnding'> {
  const state = podState(pod);
  return {
    state: observed(pod)?.kind === 'running' ? 'running' : 'stopped',
    ...(state.kind === 'running' && state.isSilent && { isSilent: true }),
    ...(state.kind === 'ending' && { isEnding: true }),
  };
}

/** null when its record alone says what it is: a Pod that does not run yet. */
function observed(pod: Pod): ObservedContainer | null {
  const state = podState(pod);
  switch (state.kind) {
    case 'running':
      return { kind: 'running', startedAt: state.startedAt, ...(state.isSilent && { isSilent: true }) };
    case 'ending':
      return state.startedAt === null
        ? null
        : { kind: 'running', startedAt: state.startedAt, isEnding: true };
    case 'ended':
      return { kind: 'stopped', exitCode: state.exitCode };
    case 'starting':
      return null;
  }
}
