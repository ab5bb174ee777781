import type { Container } from '../../../api/types.ts';
import { spaceWarning } from '../../../lib/format/disk-space.ts';

/** Says that a container runs out of space, and opens the details; nothing while there is room. */
export function SpaceLink({ container, onOpen }: { container: Container; onOpen: () => void }) {
  const warning = container.collaboration === undefined ? spaceWarning(container) : null;
  if (warning === null) return null;
  return (
    <button
      type="button"
      class={warning.isFull ? 'tools-link failed' : 'tools-link low'}
      aria-label={`Disk use of ${container.name}: ${warning.words}`}
      onClick={onOpen}
    >
      {warning.words}
    </button>
  );
}
