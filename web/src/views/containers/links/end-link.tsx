import type { Container } from '../../../api/types.ts';
import { now } from '../../../lib/clock.ts';
import { endWords } from '../../../lib/format/lifetime.ts';
import { keep } from '../../../state/lifetime.ts';

/** Says when a container ends by itself, and keeps it for an hour; nothing for one without an end. */
export function EndLink({ container }: { container: Container }) {
  const end = container.collaboration === undefined ? endWords(container, now.value) : null;
  if (end === null) return null;
  return (
    <button
      type="button"
      class={end.isSoon ? 'tools-link low' : 'tools-link'}
      aria-label={`${container.name}: ${end.words} · keep 1 h`}
      title={`${end.reason}. Select to keep it for 1 h.`}
      onClick={() => void keep(container)}
    >
      {end.words} · keep&nbsp;1&nbsp;h
    </button>
  );
}
