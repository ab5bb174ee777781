import { baseImageState, ensureBaseImage } from '../../../adapters/docker/images/base-image.ts';
import type { RunningEngine } from '../../../adapters/docker/private-engine/open-engine.ts';
import { ensureTools, removeOtherTools } from '../../../adapters/docker/volumes/tools-volume.ts';
import { unlessAborted } from '../../../concurrency/timeout.ts';
import type { PartState } from '../../../domain/service/health.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Parts } from '../health/readiness.ts';
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

const KEPT: PartState = {
  status: 'ready',
  detail: `of an older version, since the new one could not be built: ${BY_ITSELF}`,
};

/** `older`: there is one of an older version, and not yet the new one. */
type Found = 'current' | 'older' | 'failed';

/**
 * Prepares the base image, then the tmux volume from it, and updates the readiness. Failures are retried in the
 * background until they succeed: `background` ends then, or soon after the signal. An image of an older version is
 * used at once, and replaced in the background. Throws when the signal comes during the first attempt.
 */
export async function prepareBaseImage(work: Preparation): Promise<{ readonly background: Promise<void> }> {
  const first = await findImage(work);
  work.signal.throwIfAborted();
  return { background: afterFirst(work, first) };
}

async function afterFirst(work: Preparation, first: Found): Promise<void> {
  let found = first;
  const attempt = async (): Promise<boolean> => {
    found = await findImage(work);
    return found !== 'failed';
  };
  if (found === 'failed' && !(await retryWithBackoff(attempt, work.signal, work.firstRetryMs))) return;
  // The last attempt may have ended after Berth switched to another engine.
  if (work.signal.aborted) return;
  if (found === 'older') return await replaceOlder(work);
  work.onImage();
  await withTools(work);
}

const findImage = async (work: Preparation): Promise<Found> =>
  (await hasOlder(work)) ? 'older' : await tryImage(work);

const hasOlder = async ({ source: { docker, reference } }: Preparation): Promise<boolean> =>
  await baseImageState(docker, reference).then(
    (state) => state === 'older',
    // The attempt meets the same fault, and is repeated.
    () => false,
  );

async function replaceOlder(work: Preparation): Promise<void> {
  const { parts, signal, firstRetryMs } = work;
  say('Building the new base image in the background: until then, new containers get the older one');
  parts.image = OLDER;
  work.onImage();
  let hasTools = await tryTools(work);
  const attempt = async (): Promise<boolean> => {
    if ((await tryImage(work)) === 'current') return true;
    if (!hasTools) hasTools = await tryTools(work);
    return false;
  };
  if ((await attempt()) || (await retryWithBackoff(attempt, signal, firstRetryMs))) await withTools(work);
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

async function tryImage({ source, parts, log, signal }: Preparation): Promise<Found> {
  const { docker, reference, network, mayInstall } = source;
  try {
    const options = { reference, progress: say, log, allowPull: true, mayInstall, network, signal };
    const { how } = await ensureBaseImage(docker, options);
    if (signal.aborted) return 'failed';
    parts.image = how === 'kept' ? KEPT : { status: 'ready', detail: how };
    return how === 'kept' ? 'older' : 'current';
  } catch (err) {
    if (signal.aborted) return 'failed';
    log.error({ err }, 'base image is not ready');
    const detail = 'the base image could not be prepared';
    parts.image = { status: 'degraded', detail, reason: 'failed', mend: BY_ITSELF };
    return 'failed';
  }
}

async function tryTools({ source, ...work }: Preparation): Promise<boolean> {
  const { docker, reference, instanceId } = source;
  try {
    // Stopping the engine ends the container that fills the volume.
    const made = ensureTools(docker, { instanceId, image: reference });
    const volume = await unlessAborted(work.signal, made);
    work.onTools(volume);
    // Only now: the engine makes an empty volume for a new container that names a removed one.
    await removeUnused(work, removeOtherTools(docker, instanceId, volume));
    return true;
  } catch (err) {
    if (work.signal.aborted) return false;
    work.log.warn({ err }, 'images without tmux get a plain shell for now');
    const detail = 'images without tmux get a plain shell for now';
    work.parts.image = { status: 'degraded', detail, reason: 'incomplete', mend: BY_ITSELF };
    return false;
  }
}

/** What stays is removed another time. */
const removeUnused = ({ log, signal }: Pick<Preparation, 'log' | 'signal'>, removed: Promise<void>) =>
  unlessAborted(signal, removed).catch((err: unknown) => {
    if (!signal.aborted) log.warn({ err }, 'an unused tmux volume could not be removed');
  });
