import type { EngineSeen } from '../process/invariants.ts';
import { kubectl, type TestCluster } from './cluster.ts';

type Listed = {
  readonly items: readonly {
    readonly metadata: {
      readonly name: string;
      readonly deletionTimestamp?: string;
      readonly labels: Readonly<Record<string, string>>;
    };
    readonly status?: { readonly phase?: string };
  }[];
};

/** What the cluster has, as its administrator sees it: a container is its record, which runs with a Pod of its generation. */
export function clusterSeen(cluster: TestCluster): EngineSeen {
  const list = async (kind: string, instance: string): Promise<Listed['items']> => {
    const selector = `berth.instance=${instance},berth.db_id`;
    const words = ['-n', cluster.namespace, 'get', kind, '-l', selector, '-o', 'json'];
    return (JSON.parse(await kubectl(cluster, words)) as Listed).items;
  };
  return {
    async containersOf(instance) {
      const [pods, records] = await Promise.all([list('pods', instance), list('secrets', instance)]);
      const key = ({ metadata: { labels } }: Listed['items'][number]): string =>
        `${labels['berth.db_id']} ${labels['berth.generation']}`;
      const up = pods.filter(
        ({ metadata, status }) => metadata.deletionTimestamp === undefined && status?.phase === 'Running',
      );
      const running = new Set(up.map(key));
      const known = new Set(records.map(key));
      const strangers = pods.filter((pod) => !known.has(key(pod)));
      return [...records, ...strangers].map((one) => ({
        runtimeId: one.metadata.name.replace(/^ws-/, ''),
        dbId: one.metadata.labels['berth.db_id'] ?? '',
        state: running.has(key(one)) ? 'running' : 'stopped',
      }));
    },
    hasVolume: (volume) =>
      kubectl(cluster, ['-n', cluster.namespace, 'get', 'persistentvolumeclaim', volume]).then(
        () => true,
        () => false,
      ),
  };
}
