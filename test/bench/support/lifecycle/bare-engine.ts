/** The baseline for Berth's own work: the Engine API with the same host configuration. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type Docker from 'dockerode';
import {
  createOptions,
  type RuntimeSettings,
} from '../../../../src/adapters/docker/containers/create-options.ts';
import { aSpec } from '../../../support/engine/container.ts';

export type BareEngine = {
  /** Returns the id of a container that does not run yet. */
  create(memoryMb: number, volume?: string): Promise<string>;
  start(id: string): Promise<void>;
  stop(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /** Runs `true` to its end and checks its exit code. */
  command(id: string): Promise<void>;
  /** Removes everything made. */
  clear(): Promise<void>;
};

export function bareEngine(docker: Docker, image: string, settings: RuntimeSettings): BareEngine {
  const made = new Set<string>();
  const volumes = new Set<string>();
  const get = (id: string) => docker.getContainer(id);
  return {
    async create(memoryMb, volume = `bench-${randomUUID()}`) {
      const resources = { memoryMb, cpuMillicores: 500, diskMb: 2560 };
      volumes.add(volume);
      const { id } = await docker.createContainer(
        createOptions(aSpec(image, { resources, volume }), settings),
      );
      made.add(id);
      return id;
    },
    start: async (id) => void (await get(id).start()),
    stop: async (id) => void (await get(id).stop({ t: 10 })),
    async remove(id) {
      await get(id).remove({ force: true });
      made.delete(id);
    },
    async command(id) {
      const exec = await get(id).exec({ Cmd: ['true'], AttachStdout: true, AttachStderr: true });
      const stream = await exec.start({});
      stream.resume();
      await once(stream, 'close');
      const { ExitCode } = await exec.inspect();
      if (ExitCode !== 0) throw new Error(`true ended with ${ExitCode}`);
    },
    async clear() {
      await Promise.all([...made].map((id) => get(id).remove({ force: true })));
      await Promise.all([...volumes].map((name) => docker.getVolume(name).remove()));
    },
  };
}
