import { randomBytes } from 'node:crypto';
import type Docker from 'dockerode';
import { engineCalls, inspectThing, LIMITS, orNull } from '../engine/engine-client.ts';
import { buildFromPackages } from './base-image-from-packages.ts';
import { provisionFromRegistry } from './base-image-from-registry.ts';
import { BASE_LABEL, BASE_VERSION, type BaseImageSettings, type Draft } from './base-image-recipe.ts';
import { isMadeHere, pullImage } from './pull-image.ts';

/** `older`: made here by the recipe of an older version. */
export type BaseImageState = 'missing' | 'older' | 'current';

/** `kept`: of an older version, since the new one could not be made. */
export type BaseImage = { readonly reference: string; readonly how: 'present' | 'pulled' | 'built' | 'kept' };

/**
 * Ensures the default image: the present one, or from a registry, or from the distribution's packages. An older
 * version's image is rebuilt, and stays if that fails. The reference appears only for a complete image. Throws all
 * reasons when no way works.
 */
export async function ensureBaseImage(docker: Docker, settings: BaseImageSettings): Promise<BaseImage> {
  const { reference, log, progress } = settings;
  const before = await baseImageState(docker, reference);
  if (before === 'current') return { reference, how: 'present' };
  try {
    if (isMadeHere(reference)) return { reference, how: await make(docker, settings) };
    await pullImage(docker, reference, progress, { signal: settings.signal });
    return { reference, how: 'pulled' };
  } catch (error) {
    settings.signal?.throwIfAborted();
    if (before === 'missing') throw error;
    log.warn(`keeping the base image of an older version: ${String(error)}`);
    return { reference, how: 'kept' };
  }
}

export async function baseImageState(docker: Docker, reference: string): Promise<BaseImageState> {
  const labels = await imageLabels(docker, reference);
  if (labels === null) return 'missing';
  return !isMadeHere(reference) || labels[BASE_LABEL] === BASE_VERSION ? 'current' : 'older';
}

async function make(docker: Docker, settings: BaseImageSettings): Promise<'pulled' | 'built'> {
  const draft = { repo: 'berth/draft', tag: randomBytes(6).toString('hex') };
  try {
    const how = await makeDraft(docker, draft, settings);
    await publish(docker, draft, settings.reference);
    return how;
  } finally {
    await docker
      .getImage(`${draft.repo}:${draft.tag}`)
      .remove()
      .catch(() => {});
  }
}

async function makeDraft(
  docker: Docker,
  draft: Draft,
  settings: BaseImageSettings,
): Promise<'pulled' | 'built'> {
  const faults: string[] = [];
  if (settings.allowPull && settings.network !== undefined) {
    const fault = await faultOf(provisionFromRegistry(docker, draft, settings));
    if (fault === null) return 'pulled';
    faults.push(fault);
  }
  settings.signal?.throwIfAborted();
  const fault = await faultOf(buildFromPackages(docker, draft, settings));
  if (fault === null) return 'built';
  throw new Error([...faults, fault].join('; '));
}

/** The image's labels, or null when the engine lacks it. */
export async function imageLabels(
  docker: Docker,
  reference: string,
): Promise<Readonly<Record<string, string>> | null> {
  const info = await engineCalls(docker).read(LIMITS.inspect, (signal) =>
    orNull([404], inspectThing(docker.getImage(reference), signal)),
  );
  return info === null ? null : (info.Config.Labels ?? {});
}

async function publish(docker: Docker, draft: Draft, reference: string): Promise<void> {
  const colon = reference.lastIndexOf(':');
  const isTag = colon > reference.lastIndexOf('/');
  const repo = isTag ? reference.slice(0, colon) : reference;
  await docker
    .getImage(`${draft.repo}:${draft.tag}`)
    .tag({ repo, tag: isTag ? reference.slice(colon + 1) : 'latest' });
}

const faultOf = (work: Promise<void>): Promise<string | null> =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
