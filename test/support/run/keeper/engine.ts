import { homedir } from 'node:os';
import path from 'node:path';
import type Docker from 'dockerode';
import { INSTANCE_LABEL } from '../../../../src/adapters/docker/engine/engine-names.ts';
import { isRoot } from '../../../../src/adapters/docker/host/host-commands.ts';
import { ensureBaseImage } from '../../../../src/adapters/docker/images/base-image.ts';
import { BASE_REFERENCE } from '../../../../src/adapters/docker/images/base-image-recipe.ts';
import { openEngine } from '../../../../src/adapters/docker/private-engine/open-engine.ts';
import { layoutOf } from '../../../../src/adapters/docker/private-engine/private-engine-paths.ts';
import { installLxcfs, viewOf } from '../../../../src/adapters/docker/resource-view/resource-view.ts';
import {
  DataDirInUseError,
  type DataDirLock,
  lockDataDir,
} from '../../../../src/adapters/filesystem/data-dir-lock.ts';
import { within } from '../../../../src/concurrency/timeout.ts';
import type { Part } from './part.ts';

// The base image takes minutes to make, so it is kept between runs, outside the checkout.
const CACHE = path.join(process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache'), 'berth-test');
/** A container that the engine cannot end must not keep the engine. */
const DISCARD_MS = 60_000;
const log = { info: console.log, warn: console.warn, error: console.error };

/** This machine's engine, else a private one of this run, with the base image. */
export async function startEngine(
  _folder: string,
  progress: (line: string) => void,
): Promise<Part<'engine'>> {
  const { dataDir, lock } = freeSlot();
  const dockerHost = process.env['DOCKER_HOST'] ?? null;
  if (isRoot()) await installLxcfs({ progress, log });
  // No other engine in the place of a named one.
  const mode = dockerHost === null ? 'auto' : 'external';
  const engine = await openEngine({ dataDir, mode, dockerHost, progress, log });
  const stop = async (): Promise<void> => {
    if (engine.kind === 'private')
      await within(DISCARD_MS, discard(engine.docker), null).catch(console.error);
    await engine.stop();
    lock.release();
  };
  try {
    if (engine.kind === 'none') throw new Error(engine.mend);
    const { kind, docker, endpoint } = engine;
    const { reference } = await ensureBaseImage(docker, {
      reference: BASE_REFERENCE,
      progress,
      log,
      allowPull: true,
    });
    const view = kind === 'private' ? await viewOf(layoutOf(dataDir)) : null;
    return { value: { endpoint, image: reference, kind, view }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Concurrent runs do not share an engine: each would stop it for the other. */
function freeSlot(): { readonly dataDir: string; readonly lock: DataDirLock } {
  for (let slot = 1; ; slot++) {
    const dataDir = path.join(CACHE, `slot-${slot}`);
    try {
      return { dataDir, lock: lockDataDir(dataDir) };
    } catch (error) {
      if (!(error instanceof DataDirInUseError)) throw error;
    }
  }
}

/** Leftovers of failed tests; images stay. */
async function discard(docker: Docker): Promise<void> {
  const containers = await docker.listContainers({ all: true });
  await Promise.all(containers.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true })));
  const { Volumes } = await docker.listVolumes();
  await Promise.all((Volumes ?? []).map(({ Name }) => docker.getVolume(Name).remove({ force: true })));
  const networks = await docker.listNetworks({ filters: { label: [INSTANCE_LABEL] } });
  await Promise.all(networks.map(({ Id }) => docker.getNetwork(Id).remove()));
}
