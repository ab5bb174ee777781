import type { Change, Loose, Store, Stored } from './store.ts';

const PULL_FAULTS = {
  pull: [
    ['ErrImagePull', 'failed to pull and unpack image: not found'],
    ['ImagePullBackOff', 'Back-off pulling image'],
  ],
  never: [['ErrImageNeverPull', 'Container image is not present with pull policy of Never']],
} as const;

const NODE_ADDRESS = '192.168.7.1';

export type Node = {
  /** Images that a registry has, and with pull policy `Never` the node. */
  readonly images: Set<string>;
  /** Of processes that end by SIGTERM; others take the whole grace period. */
  readonly exitCodes: { term: number };
  /** Cut off from the API server: its Pods go on, and nobody hears of them. */
  isLost: boolean;
  /** Full: no further Pod fits. */
  isFull: boolean;
  /** What it makes of other limits: at once, when there is room, or never. */
  resizes: 'at once' | 'Deferred' | 'Infeasible';
  /** How long a Pod stays after its programs have ended, as with older kubelets. */
  removalMs: number;
  /** The uids of Pods that it ends. */
  readonly ending: Set<string>;
};

/** Whole seconds, as the API has them. */
const now = (): string => new Date().toISOString().replace(/\.\d+/, '');

const condition = (type: string, status: string, reason?: string, message?: string) => ({
  type,
  status,
  ...(reason === undefined ? {} : { reason, message }),
});

/**
 * Scheduler, kubelet and volume controller of one node, as far as they show in the API: what a Pod's status goes
 * through, and when an object that is being deleted goes. Written from what 1.36.2 and 1.20.2 do, not recorded.
 */
export function startNode(store: Store): Node {
  const node: Node = {
    images: new Set(),
    exitCodes: { term: 143 },
    isLost: false,
    isFull: false,
    resizes: 'at once',
    removalMs: 0,
    ending: new Set(),
  };
  const soon = (work: (store: Store, node: Node, pod: Stored) => void, pod: Stored): void =>
    void setTimeout(() => node.isLost || work(store, node, pod), 5);
  store.watch(store.position, ({ resource, type, object }: Change) => {
    if (resource !== 'pods') return;
    if (type === 'ADDED') soon(run, object);
    if (type !== 'MODIFIED') return;
    if (object.metadata['deletionTimestamp']) soon(end, object);
    else if (isToBeResized(object)) soon(resize, object);
  });
  return node;
}

const isPresent = (store: Store, { metadata }: Stored): boolean =>
  store.find('pods', metadata.name)?.metadata.uid === metadata.uid;

function patch(store: Store, pod: Stored, status: Loose): void {
  if (isPresent(store, pod))
    store.update('pods', pod.metadata.name, (one) => ({ ...one, status: { ...one['status'], ...status } }));
}

const claimsOf = (pod: Stored): readonly string[] =>
  (pod['spec'].volumes ?? []).flatMap((one: Loose) => one.persistentVolumeClaim?.claimName ?? []);

const isRunning = (pod: Stored): boolean => pod['status'].containerStatuses?.[0]?.state.running !== undefined;

const isToBeResized = (pod: Stored): boolean =>
  isRunning(pod) &&
  JSON.stringify(pod['status'].containerStatuses[0].resources) !==
    JSON.stringify(pod['spec'].containers[0].resources);

/** As 1.36 shows it: the limits in force, or a condition that says why they are not. */
function resize(store: Store, node: Node, { metadata: { name } }: Stored): void {
  const pod = store.find('pods', name);
  if (pod === null || !isToBeResized(pod)) return;
  const [container] = pod['spec'].containers;
  const [status] = pod['status'].containerStatuses;
  if (node.resizes === 'at once') {
    patch(store, pod, { containerStatuses: [{ ...status, resources: container.resources }] });
    return;
  }
  const pending = condition('PodResizePending', 'True', node.resizes, 'Node did not have enough capacity');
  const known = pod['status'].conditions.some(({ type }: Loose) => type === pending.type);
  if (!known) patch(store, pod, { conditions: [...pod['status'].conditions, pending] });
}

function run(store: Store, node: Node, pod: Stored): void {
  const missing = claimsOf(pod).find((claim) => store.find('persistentvolumeclaims', claim) === null);
  const unfit = node.isFull
    ? '0/1 nodes are available: 1 Insufficient memory.'
    : missing && `persistentvolumeclaim "${missing}" not found`;
  if (unfit) {
    patch(store, pod, { conditions: [condition('PodScheduled', 'False', 'Unschedulable', unfit)] });
    return;
  }
  for (const claim of claimsOf(pod))
    store.update('persistentvolumeclaims', claim, (one) => ({
      ...one,
      status: { phase: 'Bound', capacity: { storage: one['spec'].resources.requests.storage } },
    }));
  const { name, image, imagePullPolicy, resources } = pod['spec'].containers[0];
  const scheduled = [condition('PodScheduled', 'True')];
  const status = (state: Loose) => ({
    conditions: scheduled,
    containerStatuses: [{ name, state, resources }],
    hostIP: NODE_ADDRESS,
    podIPs: [{ ip: `10.244.0.${store.all('pods').length}` }],
  });
  if (node.images.has(image))
    patch(store, pod, { phase: 'Running', ...status({ running: { startedAt: now() } }) });
  else
    for (const [reason, message] of PULL_FAULTS[imagePullPolicy === 'Never' ? 'never' : 'pull'])
      patch(store, pod, status({ waiting: { reason, message } }));
}

function end(store: Store, node: Node, pod: Stored): void {
  if (!isPresent(store, pod) || node.ending.has(pod.metadata.uid)) return;
  node.ending.add(pod.metadata.uid);
  const terminated = { exitCode: node.exitCodes.term, reason: 'Error', finishedAt: now() };
  const [{ name }] = pod['spec'].containers;
  patch(store, pod, { containerStatuses: [{ name, state: { terminated } }] });
  setTimeout(() => {
    if (isPresent(store, pod)) store.remove('pods', pod.metadata.name);
    for (const claim of store.all('persistentvolumeclaims')) releaseClaim(store, claim.metadata.name);
  }, node.removalMs);
}

/** A claim that is being deleted goes with its last Pod, as the finalizer `kubernetes.io/pvc-protection` has it. */
export function releaseClaim(store: Store, claim: string): void {
  const isUsed = store.all('pods').some((pod) => claimsOf(pod).includes(claim));
  if (!isUsed && store.find('persistentvolumeclaims', claim)?.metadata['deletionTimestamp'])
    store.remove('persistentvolumeclaims', claim);
}

/** Ends a Pod's program from inside. */
export function endProgram(store: Store, name: string, exitCode: number): void {
  store.update('pods', name, (pod) => ({
    ...pod,
    status: {
      ...pod['status'],
      phase: exitCode === 0 ? 'Succeeded' : 'Failed',
      containerStatuses: [{ name: pod['spec'].containers[0].name, state: { terminated: { exitCode } } }],
    },
  }));
}
