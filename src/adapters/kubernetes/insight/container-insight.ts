import { PassThrough, pipeline, Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import {
  ContainerNotRunning,
  type ContainerObserver,
  nodeSilent,
  RuntimeFailure,
} from '../../../ports/containers/container-runtime.ts';
import type {
  ContainerInsight,
  ContainerLoad,
  LogRequest,
} from '../../../ports/containers/inside/container-insight.ts';
import type { ContainerPrograms } from '../../../ports/containers/inside/container-programs.ts';
import { diskReader } from '../../scripts/insight/disk-usage.ts';
import type { ApiClient } from '../client/api-client.ts';
import { isOfNode, orNull } from '../client/api-failure.ts';
import type { PodContainer } from '../exec/exec-socket.ts';
import { type Reading, readLoad } from './container-load.ts';

const FRESH_MS = 1_000;
const MAX_KNOWN = 1_000;

export type InsightDeps = {
  readonly client: ApiClient;
  readonly podContainerOf: (runtimeId: string) => PodContainer;
  readonly programs: ContainerPrograms;
  readonly observe: ContainerObserver['observe'];
};

/** Figures come from the container's own control group: metrics of the cluster are older, and may be absent. */
export function clusterInsight({ client, podContainerOf, programs, observe }: InsightDeps): ContainerInsight {
  const disk = diskReader(programs);
  const before = new LRUCache<string, Reading>({ max: MAX_KNOWN });
  const loads = new LRUCache<string, ContainerLoad>({
    max: MAX_KNOWN,
    ttl: FRESH_MS,
    ignoreFetchAbort: true,
    fetchMethod: async (id) => {
      const { load, reading } = await readLoad(programs, id, before.get(id));
      before.set(id, reading);
      return load;
    },
  });
  return {
    async logs(handle, request) {
      const { kind } = await observe(handle);
      if (kind === 'gone') throw new ContainerNotRunning('no such container', true);
      // The output goes with the Pod.
      return kind === 'running'
        ? await logs(client, podContainerOf(handle.runtimeId), request)
        : Readable.from([]);
    },
    load: ({ runtimeId }) => loads.forceFetch(runtimeId),
    // The load first: it refuses a container that does not run, of which no figure is to be cached.
    async usage({ runtimeId }) {
      const load = await loads.forceFetch(runtimeId);
      // A Pod cannot limit its processes: a limit of the node is out of sight.
      return { ...load, diskBytes: await disk(runtimeId), maxProcesses: null };
    },
    // A cluster does not compare a container with its image.
    async changes(handle) {
      if ((await observe(handle)).kind === 'gone') throw new ContainerNotRunning('no such container', true);
      return { paths: [], complete: false, layerBytes: null, debian: null };
    },
  };
}

async function logs(
  client: ApiClient,
  { pod, container }: PodContainer,
  { tail, follow }: LogRequest,
): Promise<Readable> {
  const { namespace } = client.access;
  const path = `/api/v1/namespaces/${namespace}/pods/${pod}/log`;
  const query = {
    container,
    follow: String(follow),
    ...(tail === null ? {} : { tailLines: String(tail) }),
  };
  const ending = new AbortController();
  const asking = client.stream({ method: 'GET', path, query, accept: '*/*' }, ending.signal);
  const answer = await orNull([400, 404], asking).catch((error: unknown) => {
    throw isOfNode(error) ? nodeSilent(error) : error;
  });
  if (answer === null) return Readable.from([]);
  const text = new PassThrough();
  pipeline(answer, text, (error) => {
    // The caller that destroyed the text needs no error.
    if (error && !text.destroyed) text.destroy(new RuntimeFailure('the output of a container broke off'));
  });
  text.once('close', () => ending.abort());
  return text;
}
