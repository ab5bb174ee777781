import type { Container } from '../../api/types.ts';
import { at, within } from './format.ts';

type EndWords = { readonly words: string; readonly reason: string; readonly isSoon: boolean };

const VERBS = { stop: 'will be stopped', delete: 'will be deleted' } as const;
const SOON_MS = 5 * 60_000;

/** When a container ends by itself, and why; null when nothing ends it. */
export function endWords({ lifetime }: Pick<Container, 'lifetime'>, now: Date): EndWords | null {
  const end = lifetime?.next_end ?? null;
  if (lifetime === null || end === null) return null;
  const { idle_seconds } = lifetime;
  const why =
    end.because === 'time' || idle_seconds === null
      ? 'its time ends'
      : `nothing uses it for ${Math.round(idle_seconds / 60)} min`;
  return {
    words: `${VERBS[end.action]} ${within(end.at, now)}${end.because === 'idle' ? ' if unused' : ''}`,
    reason: `${VERBS[end.action]} at ${at(end.at)}, because ${why}`,
    isSoon: new Date(end.at).getTime() - now.getTime() <= SOON_MS,
  };
}
