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
  const killedAt = id === null ? undefined : figures.value.get(id)?.killed_at;
  const before = useRef<typeof killedAt>(undefined);
  useEffect(() => {
    if (container === null || killedAt === undefined) return;
    // why: what was so when the page opened is no news, and this clock may differ from the service's
    const isNews = before.current !== undefined && killedAt !== before.current;
    before.current = killedAt;
    if (!isNews || killedAt === null) return;
    toastWarning(
      'A program ran out of memory and was ended',
      `${container.name} reached its limit of ${memory(container.resources.memory_mb)}. Use less, or increase it under “Settings…”.`,
    );
  }, [killedAt]);
}
