import type { Container } from '../../api/types.ts';
import { disk, diskUse } from './format.ts';

/** Above this share of its limit, space is shown as nearly full. */
const NEARLY_FULL = 0.9;
/** A volume that is only measured is stopped above this share of its size. */
const STOPS_ABOVE = 1.1;

/** `full`: over the limit, or nothing fits any more. */
export type Fill = 'unknown' | 'fine' | 'nearly_full' | 'full';

export type Space = { readonly usedMb: number | null; readonly limitMb: number; readonly fill: Fill };

function fillOf(usedMb: number | null, limitMb: number): Fill {
  if (usedMb === null) return 'unknown';
  if (usedMb > limitMb) return 'full';
  return usedMb > limitMb * NEARLY_FULL ? 'nearly_full' : 'fine';
}

const spaceOf = (usedMb: number | null, limitMb: number): Space => ({
  usedMb,
  limitMb,
  fill: fillOf(usedMb, limitMb),
});

/** A container's use of /workspace. */
export const volumeSpace = ({ volume }: Pick<Container, 'volume'>): Space =>
  spaceOf(volume.used_mb, volume.size_mb);

/** Its use outside /workspace. */
export const layerSpace = ({ layer }: Pick<Container, 'layer'>): Space =>
  spaceOf(layer.used_mb, layer.limit_mb);

/** Up to how many MB a container runs; null where the file system refuses more, so that nothing is stopped. */
export const stoppedAboveMb = ({ volume }: Pick<Container, 'volume'>): number | null =>
  volume.quota === 'hard' ? null : Math.floor(volume.size_mb * STOPS_ABOVE);

/** `1900 of 2048 MB`, as the reason of a stop says it: to the MB, for what is near its limit. */
export const exactUse = ({ usedMb, limitMb }: Space): string =>
  usedMb === null ? `up to ${limitMb} MB` : `${usedMb} of ${limitMb} MB`;

/** `0.3 of 2 GB`; the limit alone until the use is known. */
export const shortUse = ({ usedMb, limitMb }: Space): string =>
  usedMb === null ? `up to ${disk(limitMb)}` : diskUse(usedMb, limitMb);

export type SpaceWarning = { readonly words: string; readonly isFull: boolean };

/** The most urgent of what runs out of space; null while there is room. */
export function spaceWarning(container: Pick<Container, 'volume' | 'layer'>): SpaceWarning | null {
  const [volume, layer] = [volumeSpace(container).fill, layerSpace(container).fill];
  if (layer === 'full') return { words: 'layer over its limit', isFull: true };
  if (volume === 'full') return { words: 'workspace full', isFull: true };
  if (layer === 'nearly_full') return { words: 'layer almost full', isFull: false };
  if (volume === 'nearly_full') return { words: 'workspace almost full', isFull: false };
  return null;
}

/** Matches the reasons of containers that were stopped for their disk use. */
const OF_SPACE = /\/workspace|disk/;

/** Whether a container is as it is for want of space. */
const isForSpace = (reason: string | null): boolean => reason !== null && OF_SPACE.test(reason);

/** Why it was stopped for its space, short enough for a list; null for any other reason. */
export function stoppedForSpace(
  container: Pick<Container, 'volume' | 'layer' | 'status' | 'status_reason'>,
): string | null {
  if (container.status !== 'stopped' || !isForSpace(container.status_reason)) return null;
  const warning = spaceWarning(container);
  return warning?.isFull ? `Stopped: ${warning.words}` : 'Stopped for its disk use';
}

/** What to do about space that runs out, the easiest first; empty while there is room. */
export function spaceAdvice(container: Pick<Container, 'volume' | 'layer' | 'status'>): readonly string[] {
  const [volume, layer] = [isLow(volumeSpace(container)), isLow(layerSpace(container))];
  const isRunning = container.status === 'running';
  const mayStart = isRunning || volumeSpace(container).fill !== 'full';
  const advice: readonly (readonly [applies: boolean, words: string])[] = [
    [
      layer && isRunning,
      'Remove packages and files you do not need outside /workspace, or move files to /workspace.',
    ],
    [
      layer && !isRunning,
      'Start the container and remove something outside /workspace within a minute, before it is measured again.',
    ],
    [
      layer,
      'Or change its limits under “Settings…” without “Keep what was installed”. That recreates it: only /workspace is kept.',
    ],
    [volume && mayStart, 'Remove files from /workspace, or increase its disk size under “Settings…”.'],
    [!mayStart, 'Increase its disk size under “Settings…”, then start it.'],
    [volume || layer, 'If your tier allows no more, ask an administrator for a larger one.'],
  ];
  return advice.filter(([applies]) => applies).map(([, words]) => words);
}

/** The first advice for a container that was stopped for its space; null for any other. */
export const adviceOnStop = (
  container: Pick<Container, 'volume' | 'layer' | 'status' | 'status_reason'>,
): string | null => (stoppedForSpace(container) === null ? null : (spaceAdvice(container)[0] ?? null));

const isLow = ({ fill }: Space): boolean => fill === 'nearly_full' || fill === 'full';
