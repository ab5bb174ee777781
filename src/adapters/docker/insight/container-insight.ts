import type { Readable } from 'node:stream';
import type { ContainerInsight, LogRequest } from '../../../ports/containers/inside/container-insight.ts';
import { readableOf } from '../../scripts/exec/readable-of.ts';
import type { EngineCalls } from '../engine/engine-client.ts';
import type { Ownership } from '../engine/ownership.ts';
import { engineStream } from '../exec/engine-stream.ts';
import { frames } from '../exec/stream-demux.ts';
import { memoryKillsOf } from '../host/memory-kills.ts';
import { usageReader } from './container-usage.ts';
import { layerChanges } from './layer-changes.ts';

export function dockerInsight(calls: EngineCalls, own: Ownership, instanceId: string): ContainerInsight {
  const { usage, load } = usageReader(calls, (id) => memoryKillsOf(instanceId, id));
  return {
    logs: async (handle, request) => await logs(calls, (await own.require(handle)).id, request),
    usage: async (handle) => await usage((await own.require(handle)).id),
    load: async (handle) => await load((await own.require(handle)).id),
    changes: async (handle) => await layerChanges(calls, (await own.require(handle)).id),
  };
}

async function logs(calls: EngineCalls, id: string, { tail, follow }: LogRequest): Promise<Readable> {
  const answer = await engineStream(calls, `/containers/${id}/logs`, {
    stdout: 'true',
    stderr: 'true',
    follow: String(follow),
    tail: tail === null ? 'all' : String(tail),
  });
  return readableOf(textOf(answer), () => void answer.destroy());
}

async function* textOf(answer: Readable): AsyncGenerator<Buffer> {
  for await (const { data } of frames(answer)) yield data;
}
