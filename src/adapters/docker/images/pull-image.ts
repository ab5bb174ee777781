import type Docker from 'dockerode';
import { inspectThing } from '../engine/engine-client.ts';
import { followToEnd, type Report, throttled } from '../engine/engine-progress.ts';

export type PullLimits = {
  /** A registry that has not answered by then counts as absent. */
  readonly firstAnswerSeconds: number;
  readonly pullSeconds: number;
  /** Of all layers, compressed while pulling and unpacked afterwards. */
  readonly maxBytes: number;
};

const GIB = 1024 ** 3;
const LIMITS: PullLimits = { firstAnswerSeconds: 6, pullSeconds: 300, maxBytes: 10 * GIB };
const INSPECT_SECONDS = 5;
const REPORT_MS = 3000;

/** Names below `berth/` are built on this machine; no registry's image may have them. */
export { isMadeHere } from '../../../domain/containers/catalogue.ts';

/** Pulls an image within the limits, without credentials. A larger one is not kept. */
export async function pullImage(
  docker: Docker,
  reference: string,
  progress: (message: string) => void,
  {
    limits = LIMITS,
    signal,
  }: { readonly limits?: PullLimits; readonly signal?: AbortSignal | undefined } = {},
): Promise<void> {
  signal?.throwIfAborted();
  progress(`asking the registry for ${reference}`);
  const abort = new AbortController();
  const giveUpAfter = (seconds: number): NodeJS.Timeout =>
    setTimeout(() => abort.abort('no answer in time'), seconds * 1000);
  const onStop = (): void => abort.abort('given up');
  signal?.addEventListener('abort', onStop);
  const say = throttled(REPORT_MS, ({ status, id }: Report) =>
    progress(`pulling ${reference}: ${status} ${id ?? ''}`),
  );
  const tooLarge = `the image is larger than ${(limits.maxBytes / GIB).toFixed(1)} GiB`;
  const announced = sizeAnnounced();
  let timer = giveUpAfter(limits.firstAnswerSeconds);
  try {
    const answer = await docker.pull(reference, { abortSignal: abort.signal });
    clearTimeout(timer);
    timer = giveUpAfter(limits.pullSeconds);
    await followToEnd(answer, (report) => {
      say(report);
      if (announced(report) > limits.maxBytes) abort.abort(tooLarge);
    });
    await refuseLarge(docker, reference, limits.maxBytes, tooLarge);
  } catch (error) {
    const reason = abort.signal.aborted ? String(abort.signal.reason) : (error as Error).message.trim();
    throw new Error(`registry: ${reason}`);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onStop);
  }
}

/** The layers' size, as far as known to the engine. */
function sizeAnnounced(): (report: Report) => number {
  const layers = new Map<string, number>();
  return ({ id, status, progressDetail }) => {
    if (id !== undefined && status === 'Downloading') layers.set(id, progressDetail?.total ?? 0);
    return [...layers.values()].reduce((sum, bytes) => sum + bytes, 0);
  };
}

/** A small archive may hold a large image. */
async function refuseLarge(
  docker: Docker,
  reference: string,
  maxBytes: number,
  words: string,
): Promise<void> {
  const image = docker.getImage(reference);
  const { Size } = await inspectThing(image, AbortSignal.timeout(INSPECT_SECONDS * 1000));
  if (Size <= maxBytes) return;
  await image.remove();
  throw new Error(words);
}
