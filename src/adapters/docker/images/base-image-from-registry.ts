import type Docker from 'dockerode';
import { withTimeout } from '../engine/engine-client.ts';
import {
  BASE_CHANGES,
  BASE_PACKAGES,
  BASE_SETUP,
  BASE_UPSTREAM,
  type BaseImageSettings,
  type Draft,
} from './base-image-recipe.ts';
import { pullImage } from './pull-image.ts';

const INSTALL_SECONDS = 600;
const REPORT_MS = 15_000;

/** Pulls the public image, installs what a workspace needs, and commits it as the draft. */
export async function provisionFromRegistry(
  docker: Docker,
  draft: Draft,
  settings: BaseImageSettings,
): Promise<void> {
  await pullImage(docker, BASE_UPSTREAM, settings.progress, { signal: settings.signal });
  await provision(docker, BASE_UPSTREAM, draft, settings);
}

/** Runs the installation in a container of `from` and commits the result. */
export async function provision(
  docker: Docker,
  from: string,
  { repo, tag }: Draft,
  { progress, network, signal }: BaseImageSettings,
): Promise<void> {
  const install = `apt-get -q update && apt-get -q install -y --no-install-recommends ${BASE_PACKAGES.join(' ')}`;
  const container = await docker.createContainer({
    Image: from,
    Cmd: ['sh', '-c', `set -e; ${install}; ${BASE_SETUP}`],
    Env: ['DEBIAN_FRONTEND=noninteractive'],
    HostConfig: network === undefined ? {} : { NetworkMode: network },
  });
  const timer = setInterval(() => progress('installing packages into the base image'), REPORT_MS);
  try {
    await container.start();
    const ended = await container.wait({ abortSignal: withTimeout(INSTALL_SECONDS, signal) });
    if (ended.StatusCode !== 0)
      throw new Error(`the installation in the base image ended with ${ended.StatusCode}`);
    await container.commit({ repo, tag, changes: BASE_CHANGES.join('\n') });
  } finally {
    clearInterval(timer);
    await container.remove({ force: true }).catch(() => {});
  }
}
