import { poll, pollUntil } from '../../../concurrency/poll.ts';
import {
  EngineFull,
  ImageUnavailable,
  nodeSilent,
  RuntimeFailure,
} from '../../../ports/containers/container-runtime.ts';
import { patiently } from '../../patiently.ts';
import type { Namespace } from '../client/namespace.ts';
import type { Pod } from '../client/objects.ts';
import {
  DB_ID_LABEL,
  GENERATION_LABEL,
  INSTANCE_LABEL,
  podNameOf,
  podOfContainer,
  runtimeIdOf,
} from './names.ts';
import { type PodSettings, podOf } from './pod-spec.ts';
import { podState } from './pod-states.ts';
import type { ContainerRecord } from './records.ts';

export type Patience = {
  /** A node may first have to be added for a Pod, and a large image pulled. */
  readonly startSeconds: number;
  /** For its programs to end, beyond its grace period. A kubelet that forgot them says so only by removing the Pod. */
  readonly endSeconds: number;
  /** For it to go: kubelets unmount its volumes, and older ones look only once a minute for what is left of it. */
  readonly removalSeconds: number;
};

const PATIENCE: Patience = { startSeconds: 300, endSeconds: 90, removalSeconds: 90 };
const EVERY_MS = 150;
/** 0 would remove the Pod from the API while its programs may still run. */
const SHORTEST_GRACE_SECONDS = 1;

/** What a Pod of a container is found by. */
type PodOwner = { readonly spec: Pick<ContainerRecord['spec'], 'dbId' | 'generation'> };

export type Pods = ReturnType<typeof containerPods>;

/** The Pods of one installation: at most one for all generations of a row. */
export function containerPods(namespace: Namespace, settings: PodSettings, patience = PATIENCE) {
  const { startSeconds, endSeconds, removalSeconds } = patience;
  const search = podSearch(namespace, settings.instanceId);
  const { find } = search;
  const make = podMaker(namespace, settings, search, removalSeconds);
  return {
    find,
    /** The owner of the Pod of a container whose record was removed from outside; null without a Pod. */
    async ownerWithoutRecord(runtimeId: string): Promise<PodOwner | null> {
      const labels = (await namespace.get('pods', podOfContainer(runtimeId)))?.metadata.labels ?? {};
      const spec = { dbId: labels[DB_ID_LABEL] ?? '', generation: Number(labels[GENERATION_LABEL]) };
      return runtimeIdOf(settings.instanceId, spec.dbId, spec.generation) === runtimeId ? { spec } : null;
    },
    /** Resolves when the container's first program runs. A Pod that does not start is removed again. */
    async start(record: ContainerRecord): Promise<void> {
      let pod = await make(record);
      const verdict = async (): Promise<'running' | Error | null> => {
        const now = await find(record);
        pod = now ?? pod;
        return verdictOf(record, now);
      };
      const limits = { withinMs: startSeconds * 1000, everyMs: EVERY_MS };
      const fault = await poll(() => patiently(verdict, null), limits);
      if (fault === 'running') return;
      await namespace.remove('pods', pod.metadata.name, grace(pod));
      throw fault ?? lateFault(record, pod);
    },
    /** Ends the container's Pod and waits until its programs have ended, or it is gone; absent is success. */
    async end(owner: PodOwner, graceSeconds: number, until: 'ended' | 'gone'): Promise<void> {
      const pod = await find(owner);
      if (pod === null) return;
      await namespace.remove('pods', pod.metadata.name, grace(pod, graceSeconds));
      const isOver = async (): Promise<boolean> => {
        const now = await find(owner);
        if (now?.metadata.uid !== pod.metadata.uid) return true;
        const state = podState(now);
        return until === 'ended' && state.kind === 'ending' && state.hasEnded;
      };
      const patientSeconds = until === 'ended' ? endSeconds : removalSeconds;
      const limits = { withinMs: (graceSeconds + patientSeconds) * 1000, everyMs: EVERY_MS };
      // A lost node: only an administrator knows whether its programs have ended.
      if (!(await pollUntil(() => patiently(isOver, false), limits)))
        throw nodeSilent(
          new RuntimeFailure(`the node ${pod.spec.nodeName} does not end the Pod ${pod.metadata.name}`),
        );
    },
  };
}

/** Makes a Pod, or takes over that of an earlier or concurrent attempt. One that has ended is replaced. */
function podMaker(
  namespace: Namespace,
  settings: PodSettings,
  { isOf, ofRow }: ReturnType<typeof podSearch>,
  removalSeconds: number,
) {
  async function attempt(record: ContainerRecord): Promise<Pod | null> {
    const created = await namespace.create('pods', podOf(record, settings));
    if (created !== null) return created;
    const present = await ofRow(record);
    if (present === null) return null;
    const state = podState(present);
    if (state.kind === 'ended') await namespace.remove('pods', present.metadata.name, grace(present));
    else if (state.kind !== 'ending') {
      if (isOf(present, record)) return present;
      throw new RuntimeFailure(`another container of ${record.spec.dbId} runs`);
    }
    return null;
  }

  return async (record: ContainerRecord): Promise<Pod> => {
    const pod = await poll(() => attempt(record), { withinMs: removalSeconds * 1000, everyMs: EVERY_MS });
    if (pod === null)
      throw nodeSilent(new RuntimeFailure(`the last Pod of ${record.spec.dbId} is still being removed`));
    return pod;
  };
}

/** Finds the Pods of an installation, and no other's. */
function podSearch(namespace: Namespace, instanceId: string) {
  const isOurs = ({ metadata }: Pod): boolean => metadata.labels?.[INSTANCE_LABEL] === instanceId;
  const isOf = (pod: Pod, { spec }: PodOwner): boolean =>
    isOurs(pod) && pod.metadata.labels?.[GENERATION_LABEL] === String(spec.generation);

  /** The row's Pod, of any generation. */
  async function ofRow({ spec }: PodOwner): Promise<Pod | null> {
    const name = podNameOf(spec.dbId);
    const pod = await namespace.get('pods', name);
    if (pod !== null && !isOurs(pod))
      throw new RuntimeFailure(`the Pod ${name} does not belong to this installation`);
    return pod;
  }

  /** The container's own Pod. */
  async function find(owner: PodOwner): Promise<Pod | null> {
    const pod = await ofRow(owner);
    return pod !== null && isOf(pod, owner) ? pod : null;
  }

  return { isOf, ofRow, find };
}

const grace = ({ metadata }: Pod, seconds = SHORTEST_GRACE_SECONDS) => ({
  uid: metadata.uid,
  graceSeconds: Math.max(seconds, SHORTEST_GRACE_SECONDS),
});

function lateFault({ spec }: ContainerRecord, pod: Pod): Error {
  const state = podState(pod);
  const words = `the Pod of ${spec.dbId} did not start in time: ${reasonOf(pod)}`;
  return state.kind === 'starting' && state.isUnplaced ? new EngineFull(words) : new RuntimeFailure(words);
}

function reasonOf(pod: Pod): string {
  const state = podState(pod);
  return (state.kind === 'starting' && state.fault) || state.kind;
}

/** Whether it runs, or why it never will; null while that is open. */
function verdictOf({ spec }: ContainerRecord, pod: Pod | null): 'running' | Error | null {
  if (pod === null) return new RuntimeFailure(`the Pod of ${spec.dbId} was removed from outside`);
  const state = podState(pod);
  switch (state.kind) {
    case 'running':
      return 'running';
    case 'ending':
      return new RuntimeFailure(`the Pod of ${spec.dbId} was removed from outside`);
    case 'ended':
      return new RuntimeFailure(`the Pod of ${spec.dbId} ended at once: ${state.why}`);
    case 'starting':
      return state.hasNoImage ? new ImageUnavailable(`image ${spec.image}: ${state.fault}`) : null;
  }
}
