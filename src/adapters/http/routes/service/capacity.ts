import type { Capacity, NodeCapacity } from '../../../../app/containers/capacity/read-capacity.ts';
import type { PersonUsage } from '../../../../app/containers/capacity/read-usage.ts';
import { type DiskNow, overcommitRatio } from '../../../../domain/containers/capacity/capacity.ts';
import { toMb } from '../../../../domain/containers/disk-quota.ts';
import type { Caller, RequestOrigin } from '../../../../domain/identity/caller.ts';
import { listBody } from '../../list-pages.ts';
import { operation } from '../../open-api/route-schema.ts';
import { bodyOf } from '../../replies/bodies.ts';
import * as schema from '../../schema/containers/capacity.ts';
import type { Routes } from '../../server.ts';

export type CapacityRead = {
  readonly capacity: () => Promise<Capacity>;
  readonly usage: (caller: Caller, origin: RequestOrigin) => Promise<readonly PersonUsage[]>;
};

export const capacityRoutes =
  ({ capacity, usage }: CapacityRead): Routes =>
  (http) => {
    http.get(
      '/api/admin/capacity',
      operation('adminCapacity.read', 'Read what the machines of the engines have, promise and use', {
        config: { scope: 'admin', failure: 'failed to read capacity' },
        response: { 200: schema.CapacityBody },
      }),
      async () => toCapacity(await capacity()),
    );

    http.get(
      '/api/admin/usage',
      operation('adminUsage.list', 'List what each user uses', {
        config: { scope: 'admin', failure: 'failed to list usage' },
        querystring: schema.UsageQuery,
        response: { 200: schema.UsageList },
      }),
      async ({ caller, origin, query }) =>
        listBody('usage', (await usage(caller, origin)).map(toUsage), query, 'user_id'),
    );
  };

const serializeStored = bodyOf(schema.CapacityBody.properties.stored);

const toCapacity = ({ at, nodes, stored }: Capacity): schema.CapacityBody => ({
  time: at.toISOString(),
  nodes: nodes.map(toNode),
  stored: serializeStored(stored),
});

const orNull = (bytes: number | null | undefined): number | null => (bytes == null ? null : toMb(bytes));

const NO_CONTAINERS = {
  creating: 0,
  starting: 0,
  running: 0,
  stopping: 0,
  stopped: 0,
  updating: 0,
  failed: 0,
};

function toNode({ sums, host, disks, load, warnings }: NodeCapacity): schema.NodeBody {
  const { running, all } = sums;
  const totalMb = orNull(host?.memoryBytes);
  const [disk] = disks;
  return {
    name: sums.node,
    reachable: host !== null,
    cpu: {
      total_millicores: host?.cpuMillicores ?? null,
      used_millicores: host?.cpuUsedMillicores ?? null,
      containers_millicores: load?.cpuMillicores ?? null,
      promised_millicores: running.cpuMillicores,
      promised_all_millicores: all.cpuMillicores,
      overcommit: overcommitRatio(running.cpuMillicores, host?.cpuMillicores ?? null),
    },
    memory: {
      total_mb: totalMb,
      used_mb: orNull(host?.memoryUsedBytes),
      containers_mb: orNull(load?.memoryBytes),
      promised_mb: running.memoryMb,
      promised_all_mb: all.memoryMb,
      overcommit: overcommitRatio(running.memoryMb, totalMb),
    },
    disk: {
      promised_mb: all.diskMb,
      overcommit: overcommitRatio(all.diskMb, orNull(disk?.totalBytes)),
    },
    disks: disks.map(toDisk),
    containers: { ...NO_CONTAINERS, ...sums.states },
    images: host?.images ? { count: host.images.count, size_mb: toMb(host.images.bytes) } : null,
    warnings: [...warnings],
  };
}

const toDisk = ({ isPool, totalBytes, freeBytes, reserveBytes, isShort }: DiskNow) => ({
  kind: isPool ? ('engine' as const) : ('host' as const),
  total_mb: toMb(totalBytes),
  used_mb: toMb(totalBytes - freeBytes),
  free_mb: toMb(freeBytes),
  reserve_mb: toMb(reserveBytes),
  short: isShort,
});

const serializeUsage = bodyOf(schema.UsageBody);

const toUsage = ({ limits, load, ...one }: PersonUsage) =>
  serializeUsage({
    ...one,
    ...limits,
    cpuUsedMillicores: load?.cpuMillicores ?? null,
    memoryUsedMb: orNull(load?.memoryBytes),
  });
