import { type PollLimits, poll } from '../../../concurrency/poll.ts';
import type { Resources } from '../../../domain/containers/resources.ts';
import { patiently } from '../../patiently.ts';
import type { Namespace } from '../client/namespace.ts';
import type { Pod } from '../client/objects.ts';
import { mebibytes, millicores } from '../client/quantities.ts';
import { podNameOf } from './names.ts';
import { limitsOf } from './pod-spec.ts';
import { MAIN } from './pod-states.ts';
import type { Pods } from './pods.ts';
import type { ContainerRecord } from './records.ts';

/** For the node to change the limits. One without room may give them only when another Pod goes. */
const RESIZE: PollLimits = { withinMs: 10_000, everyMs: 150 };

/**
 * Gives a running container its record's limits: in place where its node can, else by a new Pod, which may be placed
 * elsewhere. Before 1.33 only its next Pod has them.
 */
export async function resizeContainer(
  namespace: Namespace,
  pods: Pods,
  record: ContainerRecord,
  resize = RESIZE,
): Promise<void> {
  const { resources, dbId } = record.spec;
  const asked = await namespace.resizePod(podNameOf(dbId), [{ name: MAIN, resources: limitsOf(resources) }]);
  if (asked === 'absent') return;
  const decided = async (): Promise<'done' | 'refused' | null> => {
    const pod = await pods.find(record);
    return pod === null ? 'done' : resizeState(pod, resources);
  };
  if (asked === 'asked' && (await poll(() => patiently(decided, null), resize)) === 'done') return;
  await pods.end(record, 0, 'gone');
  await pods.start(record);
}

/** null while the node has not decided. `Deferred` is no decision: it waits for room. */
export function resizeState(
  { status = {} }: Pod,
  { memoryMb, cpuMillicores }: Resources,
): 'done' | 'refused' | null {
  const isRefused = status.conditions?.some(
    ({ type, status: is, reason }) => type === 'PodResizePending' && is === 'True' && reason === 'Infeasible',
  );
  if (isRefused) return 'refused';
  const main = status.containerStatuses?.find(({ name }) => name === MAIN);
  const { memory = '', cpu = '' } = main?.resources?.limits ?? {};
  return mebibytes(memory) === memoryMb && millicores(cpu) === cpuMillicores ? 'done' : null;
}
