import { finished, type Readable } from 'node:stream';
import { unlessAborted } from '../../../concurrency/timeout.ts';
import { ImageUnavailable } from '../../../ports/containers/container-runtime.ts';
import type { EngineCalls } from '../../docker/engine/engine-client.ts';
import { inspectImage } from '../../docker/engine/engine-lists.ts';
import { followToEnd } from '../../docker/engine/engine-progress.ts';
import { isMadeHere, pullImage } from '../../docker/images/pull-image.ts';
import { requireRunnable } from './platform.ts';

/** The id of an image on an engine; null when the engine lacks it. */
export const imageIdOn = async (calls: EngineCalls, reference: string): Promise<string | null> =>
  (await inspectImage(calls, reference))?.Id ?? null;

/** A base image over a slow line between nodes. */
const COPY_SECONDS = 600;

/** What each engine has copied, since engines may name one image by different ids. */
const copied = new WeakMap<EngineCalls, Set<string>>();

/**
 * Ensures an image on a node's engine, and returns its id: of what is there, of what a registry has, or of a copy from
 * the manager for those that Berth makes itself. Throws `ImageUnavailable`.
 */
export async function ensureImage(
  calls: EngineCalls,
  reference: string,
  manager: EngineCalls,
): Promise<string> {
  const isMade = isMadeHere(reference);
  if (isMade && calls !== manager) await followManager(calls, reference, manager);
  const before = await inspectImage(calls, reference);
  if (before === null && !isMade)
    await obtained(
      pullImage(calls.docker, reference, () => {}),
      reference,
    );
  const present = before ?? (await inspectImage(calls, reference));
  if (present === null) throw new ImageUnavailable(`image ${reference} is not on its node`);
  return present.Id;
}

/**
 * Throws `OtherPlatform` for an image of another architecture than its engine's. Asked only when a node is chosen: one
 * that runs such images by an emulator keeps the containers that it has.
 */
export async function ensureRunnable(calls: EngineCalls, reference: string): Promise<void> {
  const present = await inspectImage(calls, reference);
  if (present !== null) await requireRunnable(calls, reference, present);
}

/** Copies the manager's image unless the node has it, or one that it got before. */
async function followManager(calls: EngineCalls, reference: string, manager: EngineCalls): Promise<void> {
  const [newest, present] = await Promise.all([manager, calls].map((each) => imageIdOn(each, reference)));
  if (newest == null || newest === present) return;
  const done = copied.get(calls) ?? new Set();
  if (present !== null && done.has(`${reference} ${newest}`)) return;
  await obtained(copyOnce(manager, calls, reference), reference);
  copied.set(calls, done.add(`${reference} ${newest}`));
}

/** The copies under way of each engine, which all who need one share. */
const copying = new WeakMap<EngineCalls, Map<string, Promise<void>>>();

async function copyOnce(from: EngineCalls, to: EngineCalls, reference: string): Promise<void> {
  const ofEngine = copying.get(to) ?? new Map<string, Promise<void>>();
  copying.set(to, ofEngine);
  const before = ofEngine.get(reference);
  if (before !== undefined) return await before;
  const copy = copyImage(from, to, reference).finally(() => ofEngine.delete(reference));
  ofEngine.set(reference, copy);
  await copy;
}

async function obtained(work: Promise<void>, image: string): Promise<void> {
  await work.catch((error: unknown) => {
    throw new ImageUnavailable(`image ${image}: ${String(error)}`, { cause: error });
  });
}

/** No registry has images that Berth makes: each node gets them from the manager. */
async function copyImage(from: EngineCalls, to: EngineCalls, reference: string): Promise<void> {
  const limit = AbortSignal.timeout(COPY_SECONDS * 1000);
  const archive = (await unlessAborted(limit, from.docker.getImage(reference).get())) as Readable;
  // An archive that ends too early would leave its upload open for good.
  const broken = new AbortController();
  finished(archive, (error) => {
    if (error) broken.abort(error);
  });
  const abortSignal = AbortSignal.any([limit, broken.signal]);
  try {
    await followToEnd(await to.docker.loadImage(archive, { abortSignal }), () => {});
  } finally {
    archive.destroy();
  }
}
