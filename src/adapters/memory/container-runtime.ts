import { randomBytes } from 'node:crypto';
import {
  type ContainerRuntime,
  type ContainerSpec,
  RuntimeFailure,
  type RuntimeHandle,
} from '../../ports/container-runtime.ts';

type Box = { readonly spec: ContainerSpec; readonly handle: RuntimeHandle; startedAt: Date | null };

/** An engine in memory. `exec` runs nothing: it answers with the arguments of `echo`, and 127 for all else. */
export function memoryRuntime(node = 'local'): ContainerRuntime & { readonly boxes: Map<string, Box> } {
  const boxes = new Map<string, Box>();
  const volumes = new Set<string>();
  const existing = ({ runtimeId }: RuntimeHandle): Box => {
    const box = boxes.get(runtimeId);
    if (box === undefined) throw new RuntimeFailure('no such container', 404);
    return box;
  };

  return {
    boxes,
    capabilities: CAPABILITIES,
    async create(spec) {
      const same = [...boxes.values()].find(
        (box) => box.spec.dbId === spec.dbId && box.spec.generation === spec.generation,
      );
      if (same !== undefined) return same.handle;
      const handle = { node, runtimeId: randomBytes(32).toString('hex') };
      volumes.add(spec.volume);
      boxes.set(handle.runtimeId, { spec, handle, startedAt: null });
      return handle;
    },
    async start(handle) {
      existing(handle).startedAt ??= new Date();
    },
    async stop(handle) {
      existing(handle).startedAt = null;
    },
    async remove({ runtimeId }) {
      boxes.delete(runtimeId);
    },
    async observe({ runtimeId }) {
      const box = boxes.get(runtimeId);
      if (box === undefined) return { kind: 'gone' };
      return box.startedAt === null
        ? { kind: 'stopped', exitCode: 0 }
        : { kind: 'running', startedAt: box.startedAt };
    },
    list: async () =>
      [...boxes.values()].map(({ handle, spec, startedAt }) => ({
        handle,
        dbId: spec.dbId,
        generation: spec.generation,
        running: startedAt !== null,
      })),
    volumeExists: async (volume) => volumes.has(volume),
    async exec(handle, { command: [program, ...args] }) {
      if (existing(handle).startedAt === null) throw new RuntimeFailure('container is not running', 409);
      const known = program === 'echo';
      const stdout = Buffer.from(known ? `${args.join(' ')}\n` : '');
      return { exitCode: known ? 0 : 127, stdout, stderr: Buffer.alloc(0), truncated: false, durationMs: 0 };
    },
  };
}

const CAPABILITIES = {
  resizeInPlace: true,
  keepsWritableLayerOnStop: true,
  perWorkspaceSeccomp: false,
  movableVolume: false,
  pause: false,
  statsWithoutAgent: true,
  diskQuota: 'soft',
} as const;
