import type { Pod } from '../client/objects.ts';

/** The container with the user's programs; others of its Pod only prepare it. */
export const MAIN = 'workspace';

/**
 * What a Pod's status says of its workspace.
 * - `ended`: its first program has, or what prepares it failed, or it was evicted.
 * - `ending`: it is being deleted, and still runs if it has a start time; `hasEnded`: its programs have.
 * - `isSilent`: the cluster has lost the node that it runs on.
 * - `fault`: why it does not start yet; `hasNoImage`: no node can get its image; `isUnplaced`: no node has room.
 */
export type PodState =
  | { readonly kind: 'running'; readonly startedAt: Date; readonly isSilent: boolean }
  | {
      readonly kind: 'starting';
      readonly fault: string | null;
      readonly hasNoImage: boolean;
      readonly isUnplaced: boolean;
    }
  | { readonly kind: 'ended'; readonly exitCode: number; readonly why: string }
  | { readonly kind: 'ending'; readonly startedAt: Date | null; readonly hasEnded: boolean };

/** After these the kubelet has given up, or only tries again later. `ErrImagePull` is a first try. */
const NO_IMAGE = ['ImagePullBackOff', 'ErrImageNeverPull', 'InvalidImageName'];
/** The exit code of a program that was killed. */
const KILLED = 137;
/** Programs may write some of them. */
const MAX_WORDS = 300;

export function podState({ metadata, status = {} }: Pod): PodState {
  const main = status.containerStatuses?.find(({ name }) => name === MAIN)?.state ?? {};
  const startedAt = main.running === undefined ? null : new Date(main.running.startedAt);
  if (metadata.deletionTimestamp !== undefined)
    return { kind: 'ending', startedAt, hasEnded: main.terminated !== undefined };
  if (status.phase === 'Succeeded' || status.phase === 'Failed') {
    const { exitCode = KILLED, reason, message } = main.terminated ?? failedFirst(status) ?? {};
    const words = [reason, message?.slice(0, MAX_WORDS)].filter(Boolean).join(': ');
    return { kind: 'ended', exitCode, why: status.message ?? (words || (status.reason ?? status.phase)) };
  }
  if (startedAt !== null) return { kind: 'running', startedAt, isSilent: isSilent(status) };
  return starting(status);
}

/** Of a node that does not answer, the cluster sets this one condition of its Pods. Kubelets set both. */
function isSilent({ conditions = [] }: NonNullable<Pod['status']>): boolean {
  const is = (wanted: string): string | undefined => conditions.find(({ type }) => type === wanted)?.status;
  return is('Ready') === 'False' && is('ContainersReady') === 'True';
}

/** How a container ended without which the main one does not start. */
const failedFirst = ({ initContainerStatuses = [] }: NonNullable<Pod['status']>) =>
  initContainerStatuses.map(({ state }) => state?.terminated).find((end) => end && end.exitCode !== 0);

function starting({
  conditions,
  initContainerStatuses = [],
  containerStatuses = [],
}: NonNullable<Pod['status']>) {
  const waiting = [...initContainerStatuses, ...containerStatuses].flatMap(
    ({ state }) => state?.waiting ?? [],
  );
  const noImage = waiting.find(({ reason = '' }) => NO_IMAGE.includes(reason));
  const unplaced = conditions?.find(({ type, status }) => type === 'PodScheduled' && status === 'False');
  const seen = noImage ?? unplaced ?? waiting[0];
  const fault = seen === undefined ? null : [seen.reason, seen.message].filter(Boolean).join(': ');
  const isUnplaced = noImage === undefined && unplaced !== undefined;
  return { kind: 'starting', fault, hasNoImage: noImage !== undefined, isUnplaced } as const;
}
