import { randomBytes } from 'node:crypto';
import type Docker from 'dockerode';
import { buildFromPackages } from './base-from-packages.ts';
import { provisionFromRegistry } from './base-from-registry.ts';
import type { BaseImageSettings, Draft } from './base-settings.ts';
import { engineCalls, inspectThing, LIMITS, statusOf } from './client.ts';

export type BaseImage = { readonly reference: string; readonly how: 'present' | 'pulled' | 'built' };

/**
 * Makes sure that the default image is there: as it is, from a registry, or from the distribution's packages.
 * The reference appears only once the image is whole. Throws with both reasons when neither way works.
 */
export async function ensureBaseImage(docker: Docker, settings: BaseImageSettings): Promise<BaseImage> {
  const { reference, allowPull } = settings;
  if (await imageExists(docker, reference)) return { reference, how: 'present' };
  const draft = { repo: 'berth/draft', tag: randomBytes(6).toString('hex') };
  const faults: string[] = [];
  try {
    if (allowPull && (await attempt(() => provisionFromRegistry(docker, draft, settings), faults))) {
      await publish(docker, draft, reference);
      return { reference, how: 'pulled' };
    }
    if (!(await attempt(() => buildFromPackages(docker, draft, settings), faults)))
      throw new Error(faults.join('; '));
    await publish(docker, draft, reference);
    return { reference, how: 'built' };
  } finally {
    await docker
      .getImage(`${draft.repo}:${draft.tag}`)
      .remove()
      .catch(() => {});
  }
}

/** Whether the engine has an image under this reference. */
export async function imageExists(docker: Docker, reference: string): Promise<boolean> {
  try {
    await engineCalls(docker).read(LIMITS.inspect, (signal) =>
      inspectThing(docker.getImage(reference), signal),
    );
    return true;
  } catch (error) {
    if (statusOf(error) === 404) return false;
    throw error;
  }
}

async function publish(docker: Docker, draft: Draft, reference: string): Promise<void> {
  const colon = reference.lastIndexOf(':');
  const isTag = colon > reference.lastIndexOf('/');
  const repo = isTag ? reference.slice(0, colon) : reference;
  await docker
    .getImage(`${draft.repo}:${draft.tag}`)
    .tag({ repo, tag: isTag ? reference.slice(colon + 1) : 'latest' });
}

async function attempt(way: () => Promise<void>, faults: string[]): Promise<boolean> {
  try {
    await way();
    return true;
  } catch (error) {
    faults.push(error instanceof Error ? error.message : String(error));
    return false;
  }
}
