import { randomUUID } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { type PollLimits, poll } from '../../../concurrency/poll.ts';
import type { ObservedContainer } from '../../../ports/containers/container-runtime.ts';
import type { ContainerPrograms } from '../../../ports/containers/inside/container-programs.ts';
import type { Canary, Reached } from '../../../ports/containers/isolation-canary.ts';
import { runScript } from '../../scripts/exec/run-script.ts';
import { answersItself, dial } from '../../scripts/isolation/dial.ts';
import { CANARY_LISTEN, CANARY_PORT } from '../../scripts/isolation/isolation-scripts.ts';
import type { ApiClient } from '../client/api-client.ts';
import { type Namespace, namespaceOf } from '../client/namespace.ts';
import type { Pod } from '../client/objects.ts';
import { CANARY_LABEL } from '../containers/names.ts';
import { MAIN, podState } from '../containers/pod-states.ts';
import { clusterPrograms } from '../exec/container-programs.ts';
import { type CanarySettings, canaryPod, LIFE_SECONDS } from './canary-pod.ts';

const METADATA = '169.254.169.254:80';
const KUBELET_PORT = 10_250;
const START = { withinMs: 90_000, everyMs: 250 } as const;
/** Network plugins may enforce a policy only some time after a Pod's start. */
const ENFORCED: PollLimits = { withinMs: 15_000, everyMs: 1_000 };

/** Where a Pod finds the API of its cluster, which clusters tell each. */
const API_ADDRESS = `echo "$KUBERNETES_SERVICE_HOST:$KUBERNETES_SERVICE_PORT"`;

/** Tries to reach a neighbour, the kubelet of its node, the cluster's API and the metadata address. */
export function clusterCanary(client: ApiClient, settings: CanarySettings, enforced = ENFORCED): Canary {
  const namespace = namespaceOf(client);
  const programs = programsOf(client, namespace);
  const alive = new Set<string>();
  let isOver = false;

  const started = async (command: readonly string[]): Promise<Pod> => {
    const name = `berth-canary-${randomUUID()}`;
    alive.add(name);
    await namespace.create('pods', canaryPod(settings, name, command));
    if (isOver) throw new Error('the isolation check was stopped');
    const pod = await poll(() => runningPod(namespace, name), START);
    if (pod === null) throw new Error('a Pod of the isolation check did not start in time');
    return pod;
  };
  const clear = async (): Promise<void> =>
    void (await Promise.all([...alive].map((name) => removePod(namespace, name))));
  return {
    async prove() {
      await removeStale(namespace, settings.instanceId);
      try {
        const listen = ['timeout', `${LIFE_SECONDS}`, 'perl', '-e', CANARY_LISTEN];
        const [neighbour, canary] = await bothOf(started(listen), started(['sleep', `${LIFE_SECONDS}`]));
        return await runProbe(programs, { neighbour, canary, enforced });
      } finally {
        await clear();
        alive.clear();
      }
    },
    async stop() {
      isOver = true;
      await clear();
    },
  };
}

/** Waits for both, also when one fails: nothing is made after the end of a check. */
async function bothOf(one: Promise<Pod>, other: Promise<Pod>): Promise<readonly [Pod, Pod]> {
  await Promise.allSettled([one, other]);
  return await Promise.all([one, other]);
}

/** The programs of a Pod that is named like its container. */
function programsOf(client: ApiClient, namespace: Namespace): ContainerPrograms {
  const observe = async ({ runtimeId }: { runtimeId: string }): Promise<ObservedContainer> => {
    const pod = await namespace.get('pods', runtimeId);
    const state = pod && podState(pod);
    return state?.kind === 'running' ? { kind: 'running', startedAt: state.startedAt } : { kind: 'gone' };
  };
  const podContainerOf = (pod: string) => ({ pod, container: MAIN });
  return clusterPrograms({ access: client.access, podContainerOf, observe, node: '' });
}

/** null while it starts. Throws when it will not. */
async function runningPod(namespace: Namespace, name: string): Promise<Pod | null> {
  const pod = await namespace.get('pods', name);
  if (pod === null) throw new Error('a Pod of the isolation check was removed from outside');
  const state = podState(pod);
  switch (state.kind) {
    case 'running':
      return pod;
    case 'starting':
      if (state.hasNoImage) throw new Error(`the isolation check needs its image: ${state.fault}`);
      if (state.isUnplaced)
        throw new Error(`the isolation check finds no room in the cluster: ${state.fault}`);
      return null;
    case 'ended':
      throw new Error(`a Pod of the isolation check ended at once: ${state.why}`);
    case 'ending':
      throw new Error('a Pod of the isolation check was removed from outside');
  }
}

type ProbeRun = { readonly neighbour: Pod; readonly canary: Pod; readonly enforced: PollLimits };

async function runProbe(
  programs: ContainerPrograms,
  { neighbour, canary, enforced }: ProbeRun,
): Promise<readonly Reached[]> {
  const there = addressOf(neighbour);
  if (there === undefined) throw new Error('a Pod of the isolation check has no IPv4 address');
  await answersItself(programs, neighbour.metadata.name, there);
  const api = (await runScript(programs, canary.metadata.name, API_ADDRESS, [])).trim();
  const targets: readonly Reached[] = [
    { what: 'neighbour', at: there },
    { what: 'node', at: `${canary.status?.hostIP}:${KUBELET_PORT}` },
    { what: 'cluster', at: api },
    { what: 'metadata', at: METADATA },
  ];
  // An IPv6 address has more colons.
  const tried = targets.filter(({ at }) => isIPv4(at.split(':', 1)[0] ?? '')).map(({ at }) => at);
  let reached: readonly string[] = [];
  await poll(async () => {
    reached = await dial(programs, canary.metadata.name, tried);
    return reached.length === 0 || null;
  }, enforced);
  return targets.filter(({ at }) => reached.includes(at));
}

function addressOf({ status }: Pod): string | undefined {
  const own = (status?.podIPs ?? []).find(({ ip }) => isIPv4(ip));
  return own && `${own.ip}:${CANARY_PORT}`;
}

const removePod = (namespace: Namespace, name: string): Promise<void> =>
  namespace.remove('pods', name, { graceSeconds: 1 });

/** Those that killed processes left. One that runs may be another replica's, and the cluster ends it soon. */
async function removeStale(namespace: Namespace, instanceId: string): Promise<void> {
  const pods = await namespace.listPods(`${CANARY_LABEL}=${instanceId}`);
  await Promise.all(pods.filter(isStale).map(({ metadata }) => removePod(namespace, metadata.name)));
}

/** No check waits for one that has ended or that finds no room; without a node the cluster does not end it. */
function isStale(pod: Pod): boolean {
  const state = podState(pod);
  return state.kind === 'ended' || (state.kind === 'starting' && state.isUnplaced);
}
