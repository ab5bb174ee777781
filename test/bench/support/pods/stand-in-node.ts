/**
 * Plays the scheduler and the kubelet of one node to a real API server: binds Pods, calls them running, and removes those
 * that are to end. It runs nothing, so nothing can be started in these Pods. Arguments: an administrator's kubeconfig, and
 * the namespace. Announces itself by a message, and ends with its parent.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Static, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { Anything, pageOf } from '../../../../src/adapters/kubernetes/client/objects.ts';
import { clientOf, NODE } from './settings.ts';

const AT_ONCE = 16;
const WATCH_SECONDS = 3_600;
const ADDRESS = '10.0.0.7';

const Started = Type.Object({ name: Type.String(), image: Type.String() });
const Pod = Type.Object({
  metadata: Type.Object({
    name: Type.String(),
    uid: Type.String(),
    resourceVersion: Type.String(),
    deletionTimestamp: Type.Optional(Type.String()),
  }),
  spec: Type.Object({
    nodeName: Type.Optional(Type.String()),
    initContainers: Type.Optional(Type.Array(Started)),
    containers: Type.Array(Started),
  }),
  status: Type.Object({ phase: Type.String() }),
});
type Pod = Static<typeof Pod>;
const Change = Type.Object({ type: Type.String(), object: Pod });

const [kubeconfig = '', namespace = ''] = process.argv.slice(2);
const client = await clientOf(kubeconfig, namespace);
const PODS = `/api/v1/namespaces/${namespace}/pods`;
let addresses = 0;

const nowText = (): string => new Date().toISOString().replace(/\.\d+/, '');
const send = (method: 'POST' | 'PATCH' | 'DELETE', path: string, body: object): Promise<unknown> =>
  client.call(Anything, { method, path, body });

/** The rest of the work, at most so many Pods at once, each in the order of its changes. */
const waiting: (() => Promise<void>)[] = [];
let busy = 0;
function enqueue(work: () => Promise<void>): void {
  waiting.push(work);
  while (busy < AT_ONCE && waiting.length > 0) {
    busy += 1;
    void drain();
  }
}
async function drain(): Promise<void> {
  // A Pod may have gone, or changed, meanwhile: its next change tells.
  for (let work = waiting.shift(); work !== undefined; work = waiting.shift()) await work().catch(() => {});
  busy -= 1;
}

function take({ type, object: pod }: { readonly type: string; readonly object: Pod }): void {
  if (type === 'DELETED') return;
  if (pod.metadata.deletionTimestamp !== undefined) enqueue(() => end(pod));
  else if (pod.status.phase === 'Pending') enqueue(() => run(pod));
}

async function run({ metadata: { name }, spec }: Pod): Promise<void> {
  if (spec.nodeName === undefined)
    await send('POST', `${PODS}/${name}/binding`, {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { apiVersion: 'v1', kind: 'Node', name: NODE },
    });
  await send('PATCH', `${PODS}/${name}/status`, { status: runningStatus(spec) });
}

async function end({ metadata: { name, uid } }: Pod): Promise<void> {
  await send('DELETE', `${PODS}/${name}`, { gracePeriodSeconds: 0, preconditions: { uid } });
}

/** As much as a kubelet writes. */
function runningStatus({ initContainers = [], containers }: Pod['spec']) {
  const at = nowText();
  addresses += 1;
  const podIP = `10.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
  const id = (name: string): string =>
    `containerd://${Buffer.from(`${name}${addresses}`).toString('hex').padEnd(64, '0')}`;
  const common = ({ name, image }: Static<typeof Started>) => ({
    name,
    image,
    imageID: `${image}@sha256:${'0'.repeat(64)}`,
    containerID: id(name),
    lastState: {},
    ready: true,
    restartCount: 0,
  });
  const ended = { exitCode: 0, reason: 'Completed', startedAt: at, finishedAt: at };
  return {
    phase: 'Running',
    startTime: at,
    hostIP: ADDRESS,
    podIP,
    podIPs: [{ ip: podIP }],
    qosClass: 'Burstable',
    conditions: ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map((type) => ({
      type,
      status: 'True',
      lastProbeTime: null,
      lastTransitionTime: at,
    })),
    initContainerStatuses: initContainers.map((one) => ({
      ...common(one),
      state: { terminated: { ...ended, containerID: id(one.name) } },
    })),
    containerStatuses: containers.map((one) => ({
      ...common(one),
      started: true,
      state: { running: { startedAt: at } },
    })),
  };
}

/** Every Pod of now, and then the changes. */
async function follow(): Promise<void> {
  const { metadata, items } = await client.call(pageOf(Pod), { method: 'GET', path: PODS, seconds: 120 });
  for (const object of items ?? []) take({ type: 'ADDED', object });
  const query = {
    watch: 'true',
    resourceVersion: metadata.resourceVersion ?? '',
    timeoutSeconds: `${WATCH_SECONDS}`,
  };
  const answer = await client.stream(
    { method: 'GET', path: PODS, query },
    AbortSignal.timeout(WATCH_SECONDS * 1_000),
  );
  for await (const line of createInterface({ input: answer })) {
    const change: unknown = JSON.parse(line);
    if (!Value.Check(Change, change)) return;
    take(change);
  }
}

await send('POST', '/api/v1/nodes', {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: NODE },
  status: {
    capacity: { cpu: '100000', memory: '1000Ti', pods: '1000000' },
    conditions: [
      { type: 'Ready', status: 'True', lastHeartbeatTime: nowText(), lastTransitionTime: nowText() },
    ],
  },
});
process.once('disconnect', () => process.exit());
process.send?.({});
for (;;) {
  await follow().catch(() => {});
  await sleep(100);
}
