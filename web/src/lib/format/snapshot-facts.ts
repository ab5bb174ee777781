import type { Snapshot } from '../../api/types.ts';
import { ago, disk } from './format.ts';

/** A snapshot's origin, size, age and note: `of dev · 120 MB · taken 5 min ago · before the upgrade`. */
export function snapshotFacts(snapshot: Snapshot, now: Date): string {
  const { container_name, status, layer_mb, volume_mb, created_at, deleted_at, note } = snapshot;
  const rest = note === '' ? [] : [note];
  if (status === 'failed') return [`of ${container_name}`, 'could not be taken', ...rest].join(' · ');
  if (status === 'creating') return [`of ${container_name}`, 'is being taken', ...rest].join(' · ');
  const gone = deleted_at === undefined ? [] : [`deleted ${ago(deleted_at, now)}`];
  const facts = [
    `of ${container_name}`,
    disk(layer_mb + volume_mb),
    `taken ${ago(created_at, now)}`,
    ...gone,
  ];
  return [...facts, ...rest].join(' · ');
}
