import { isDeepStrictEqual } from 'node:util';
import { INTERNAL_NETWORKS } from '../../internal-networks.ts';
import type { Namespace } from '../client/namespace.ts';
import { CANARY_LABEL, INSTANCE_LABEL } from '../containers/names.ts';

const POLICY = 'berth-workspaces';

const DNS_PORTS = ['UDP', 'TCP'].map((protocol) => ({ protocol, port: 53 }));

/** The cluster's DNS, also as a cache on each node. Others need a policy of their own: policies add up. */
const DNS = [
  {
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } },
    podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
  },
  { ipBlock: { cidr: '169.254.20.10/32' } },
];

/** Nothing reaches a workspace, and it reaches the DNS and addresses outside of the cluster, without IPv6. */
const specOf = (label: string, instanceId: string) => ({
  podSelector: { matchLabels: { [label]: instanceId } },
  policyTypes: ['Ingress', 'Egress'],
  egress: [
    { to: DNS, ports: DNS_PORTS },
    { to: [{ ipBlock: { cidr: '0.0.0.0/0', except: INTERNAL_NETWORKS } }] },
  ],
});

/**
 * Keeps the policy that separates workspaces from each other and from the cluster, whose network plugin enforces it, and
 * one of the same rules for the Pods of the isolation check. Each call sets them, and returns what was changed from
 * outside since the last one.
 */
export function networkPolicy(namespace: Namespace, instanceId: string): () => Promise<readonly string[]> {
  const name = `${POLICY}-${instanceId.slice(0, 8)}`;
  const kept = [
    keptPolicy(namespace, instanceId, { name, spec: specOf(INSTANCE_LABEL, instanceId) }),
    keptPolicy(namespace, instanceId, { name: `${name}-check`, spec: specOf(CANARY_LABEL, instanceId) }),
  ];
  return async () => (await Promise.all(kept.map((assert) => assert()))).flat();
}

type Policy = { readonly name: string; readonly spec: ReturnType<typeof specOf> };

function keptPolicy(namespace: Namespace, instanceId: string, { name, spec }: Policy) {
  const labels = { 'app.kubernetes.io/managed-by': 'berth', [INSTANCE_LABEL]: instanceId };
  let isSet = false;

  const bodyOf = (version: object) => ({
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: { name, labels, ...version },
    spec,
  });

  /** Whether it had to be set. */
  async function assert(): Promise<boolean> {
    const present = await namespace.get('networkpolicies', name);
    if (present === null) return (await namespace.create('networkpolicies', bodyOf({}))) !== null;
    if (isDeepStrictEqual(present.spec, spec)) return false;
    const { resourceVersion } = present.metadata;
    await namespace.replace('networkpolicies', name, bodyOf({ resourceVersion }));
    return true;
  }

  return async (): Promise<readonly string[]> => {
    const wasSet = isSet;
    const isChanged = await assert();
    isSet = true;
    return wasSet && isChanged ? [`NetworkPolicy ${name}`] : [];
  };
}
