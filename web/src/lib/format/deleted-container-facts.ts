import type { Container } from '../../api/types.ts';
import { ago, disk, diskUse, onDay, within } from './format.ts';

const DAY_MS = 86_400_000;

/** A deleted container's size, deletion and erasure: `300 of 512 MB in /workspace · deleted 2 h ago · …`. */
export function keptFacts(container: Container, now: Date): string {
  const { volume, deleted_at = null, kept_until = null } = container;
  const size = volume.used_mb === null ? disk(volume.size_mb) : diskUse(volume.used_mb, volume.size_mb);
  return [
    `${size} in /workspace`,
    ...(container.keeps_installed ? ['installed software as last saved'] : []),
    ...(deleted_at === null ? [] : [`deleted ${ago(deleted_at, now)}`]),
    ...(kept_until === null ? [] : [keptWords(kept_until, now)]),
  ].join(' · ');
}

function keptWords(until: string, now: Date): string {
  const leftMs = Date.parse(until) - now.getTime();
  if (leftMs <= 0) return 'about to be permanently deleted';
  return leftMs > DAY_MS ? `kept until ${onDay(until)}` : `permanently deleted ${within(until, now)}`;
}
