import { useEffect, useRef } from 'preact/hooks';
import { memory } from '../../lib/format/format.ts';
import { figures, followFigures } from '../../state/figures.ts';
import { toastWarning } from '../../state/toasts.ts';
import type { Known } from './overlay-state.ts';

/** Says that a program was ended because memory ran out, which the shell reports as `Killed`. */
export function useMemoryNotice(known: Known): void {
  const container = typeof known === 'object' && !known.collaboration && !known.agent ? known : null;
  const id = container?.status === 'running' ? container.db_id : null;
  useEffect(() => (id === null ? undefined : followFigures([id])), [id]);
  const openedAt = useRef(new Date().toISOString());
  const killedAt = (id === null ? null : figures.value.get(id)?.killed_at) ?? null;
  useEffect(() => {
    if (container === null || killedAt === null || killedAt < openedAt.current) return;
    toastWarning(
      'A program ran out of memory and was ended',
      `${container.name} reached its limit of ${memory(container.resources.memory_mb)}. Use less, or increase it under “Settings…”.`,
    );
  }, [killedAt]);
}
