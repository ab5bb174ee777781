import type { Container } from '../../api/types.ts';
import { disk, diskUse } from '../../lib/format.ts';

/** Above this much of its size it is worth a look. */
const NEARLY_FULL = 0.9;

const KEPT: Readonly<Record<string, string>> = {
  hard: 'More than that is refused: “No space left on device”.',
  soft: 'It is measured each minute: above 110 % the container is stopped, above 100 % it does not start.',
};

/** What is in the workspace of the size that it may have; the size alone until it was looked at. */
export function DiskUse({ container: { volume } }: { container: Container }) {
  const { used_mb: used, size_mb: size, quota } = volume;
  const words = used === null ? disk(size) : diskUse(used, size);
  const title = `${used === null ? 'Size of /workspace' : '/workspace, used of its size'}. ${KEPT[quota] ?? ''}`;
  const isNearlyFull = used !== null && used > size * NEARLY_FULL;
  return (
    <span class={isNearlyFull ? 'disk-use full' : 'disk-use'} title={title}>
      {words} {quota}
    </span>
  );
}
