import { baseImageState, ensureBaseImage } from '../../../adapters/docker/images/base-image.ts';
import type { RunningEngine } from '../../../adapters/docker/private-engine/open-engine.ts';
import { ensureTools } from '../../../adapters/docker/volumes/tools-volume.ts';
import { unlessAborted } from '../../../concurrency/timeout.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { PartState, Parts } from '../health/readiness.ts';
import { say } from '../process/console-progress.ts';
import { retryWithBackoff } from '../process/retry.ts';

/** Where the image is made, and how. */
export type ImageSource = {
  readonly docker: RunningEngine['docker'];
  readonly reference: string;
  readonly network: string;
  readonly instanceId: string;
  /** Whether missing tools may be installed on this machine. */
  readonly mayInstall: boolean;
};

export type Preparation = {
  readonly source: ImageSource;
  readonly parts: Pick<Parts, 'image'>;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly firstRetryMs?: number;
  readonly onImage: () => void;
  /** Called when the tmux volume is ready. */
  readonly onTools: (volume: string) => void;
};

const BY_ITSELF = 'see the log; Berth keeps retrying';

const OLDER: PartState = { status: 'ready', detail: 'of an older version, until the new one is built' };

/**
 * Prepares the base image, then the tmux volume from it, and updates the readiness. Failures are retried in the
 * background until they succeed: `background` ends then, or soon after the signal. An image of an older version is
 * used at once, and replaced in the background. Throws when the signal comes during the first attempt.
 */
export async function prepareBaseImage(work: Preparation): Promise<{ readonly background: Promise<void> }> {
  const { signal } = work;
  if (await hasOlder(work)) return { background: replaceOlder(work) };
  const first = await tryImage(work);
  signal.throwIfAborted();
  const retried = async (): Promise<void> => {
    if (first || (await retryWithBackoff(() => tryImage(work), signal, work.firstRetryMs)))
      await withImage(work);
  };
  return { background: retried() };
}

const hasOlder = async ({ source: { docker, reference } }: Preparation): Promise<boolean> =>
  await baseImageState(docker, reference).then(
    (state) => state === 'older',
    // The first attempt meets the same fault, and is repeated.
    () => false,
  );

async function replaceOlder(work: Preparation): Promise<void> {
  const { parts, signal, firstRetryMs } = work;
  say('Building the new base image in the background: until then, new containers get the older one');
  parts.image = OLDER;
  work.onImage();
  await tryTools(work);
  if ((await tryImage(work)) || (await retryWithBackoff(() => tryImage(work), signal, firstRetryMs)))
    await withTools(work);
}

async function withImage(work: Preparation): Promise<void> {
  work.onImage();
  await withTools(work);
}

async function withTools(work: Preparation): Promise<void> {
  const ready = work.parts.image;
  if (
    !(await tryTools(work)) &&
    !(await retryWithBackoff(() => tryTools(work), work.signal, work.firstRetryMs))
  )
    return;
  work.parts.image = ready;
}

async function tryImage({ source, parts, log, signal }: Preparation): Promise<boolean> {
  const { docker, reference, network, mayInstall } = source;
  try {
    const options = { reference, progress: say, log, allowPull: true, mayInstall, network, signal };
    const { how } = await ensureBaseImage(docker, options);
    parts.image = { status: 'ready', detail: how };
    return true;
  } catch (err) {
    if (signal.aborted) return false;
    log.error({ err }, 'base image is not ready');
    const detail = 'the base image could not be prepared';
    parts.image = { status: 'degraded', detail, reason: 'failed', mend: BY_ITSELF };
    return false;
  }
}

async function tryTools({ source, ...work }: Preparation): Promise<boolean> {
  const { docker, reference, instanceId } = source;
  try {
    // Stopping the engine ends the container that fills the volume.
    const made = ensureTools(docker, { instanceId, image: reference });
    work.onTools(await unlessAborted(work.signal, made));
    return true;
  } catch (err) {
    if (work.signal.aborted) return false;
    work.log.warn({ err }, 'images without tmux get a plain shell for now');
    const detail = 'images without tmux get a plain shell for now';
    work.parts.image = { status: 'degraded', detail, reason: 'incomplete', mend: BY_ITSELF };
    return false;
  }
}
