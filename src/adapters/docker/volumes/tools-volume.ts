import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type Docker from 'dockerode';
import {
  FILL_TOOLS,
  TOOLS_COMPLETE,
  TOOLS_FOLDER,
} from '../../scripts/terminals/tmux/tmux-volume-scripts.ts';
import { removeStale } from '../containers/stale-containers.ts';
import { type EngineCalls, engineCalls, inspectThing, LIMITS, orNull } from '../engine/engine-client.ts';
import { INSTANCE_LABEL, PASSING_LABEL, TOOLS_LABEL } from '../engine/engine-names.ts';
import { runOneShot } from '../engine/one-shot-container.ts';
import { shortHash } from '../network/subnet.ts';

const FILL_SECONDS = 60;

export type ToolsOrder = { readonly instanceId: string; readonly image: string };

/**
 * Ensures a volume with tmux and all it needs in any image, filled from an image that has it; returns its name. A
 * volume in use never changes: other contents get another name.
 */
export async function ensureTools(docker: Docker, { instanceId, image }: ToolsOrder): Promise<string> {
  const calls = engineCalls(docker);
  const info = await calls.read(LIMITS.inspect, (signal) => inspectThing(docker.getImage(image), signal));
  const name = `berth-tools-${shortHash(`${instanceId} ${info.Id} ${FILL_TOOLS}`)}`;
  const labels = { [INSTANCE_LABEL]: instanceId, [TOOLS_LABEL]: 'tmux' };
  await calls.change(LIMITS.start, (abortSignal) =>
    docker.createVolume({ Name: name, Labels: labels, abortSignal }),
  );
  await removeStale(calls, PASSING_LABEL, instanceId, FILL_SECONDS);
  if (!(await isFull(calls, name))) await fill(calls, instanceId, name, image);
  return name;
}

/** Whether the volume is complete, if the engine's files are readable here; saves a container at a restart. */
async function isFull({ docker, read }: EngineCalls, volume: string): Promise<boolean> {
  const { Mountpoint } = await read(LIMITS.inspect, (signal) =>
    inspectThing(docker.getVolume(volume), signal),
  );
  return existsSync(join(Mountpoint, TOOLS_COMPLETE));
}

function fill(calls: EngineCalls, instanceId: string, volume: string, image: string): Promise<void> {
  const filling = {
    instanceId,
    image,
    entrypoint: ['sh', '-c', FILL_TOOLS],
    mount: { volume, at: TOOLS_FOLDER, isReadOnly: false },
    rights: { PidsLimit: 64 },
  };
  return runOneShot(calls, filling, async (container) => {
    const ended = await container.wait({ abortSignal: AbortSignal.timeout(FILL_SECONDS * 1000) });
    if (ended.StatusCode === 0) return;
    const said = await calls.read(LIMITS.inspect, (abortSignal) =>
      container.logs({ stderr: true, abortSignal }),
    );
    throw new Error(`the tools could not be copied: ${said.toString('latin1').slice(0, 500)}`);
  });
}

/** Removes the unused tmux volumes of an installation, except the named one, which new containers get. */
export async function removeOtherTools(docker: Docker, instanceId: string, name: string): Promise<void> {
  const { change, read } = engineCalls(docker);
  const filters = { label: [`${INSTANCE_LABEL}=${instanceId}`, TOOLS_LABEL] };
  const { Volumes } = await read(LIMITS.inspect, (abortSignal) =>
    docker.listVolumes({ filters, abortSignal }),
  );
  for (const { Name } of Volumes ?? []) {
    if (Name === name) continue;
    // One in use is refused, and removed another time.
    await change(LIMITS.start, (abortSignal) =>
      orNull([404, 409], docker.getVolume(Name).remove({ abortSignal })),
    );
  }
}
