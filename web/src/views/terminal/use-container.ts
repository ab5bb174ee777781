import { useEffect, useRef, useState } from 'preact/hooks';
import { getContainer } from '../../api/containers/containers.ts';
import { hasStatus } from '../../api/errors.ts';
import { watch } from '../../state/events.ts';
import type { Polling } from '../../state/poll.ts';
import type { Known } from './overlay-state.ts';

const SETTLED_MS = 5_000;
const CHANGING_MS = 700;

const isSettled = (known: Known): boolean =>
  typeof known === 'object' &&
  ['running', 'stopped'].includes(known.status) &&
  known.collaboration === undefined &&
  known.role_setup.status !== 'installing';

/** The container as it is now. */
export function useContainer(id: string): { readonly known: Known; readonly refresh: () => Promise<void> } {
  const [known, setKnown] = useState<Known>('unknown');
  const latest = useRef<Known>('unknown');
  const polling = useRef<Polling | null>(null);
  useEffect(() => {
    const learn = (next: Known): void => {
      if (JSON.stringify(next) === JSON.stringify(latest.current)) return;
      latest.current = next;
      setKnown(next);
    };
    const refresh = async (): Promise<void> => {
      try {
        learn(await getContainer(id));
      } catch (failure) {
        if (hasStatus(failure, 404)) learn('gone');
      }
    };
    polling.current = watch({
      refresh,
      isSettled: () => isSettled(latest.current),
      settledMs: SETTLED_MS,
      changingMs: CHANGING_MS,
      concerns: (event) => event.dbId === id || event.id === id,
    });
    return () => polling.current?.stop();
  }, [id]);
  return { known, refresh: () => polling.current?.now() ?? Promise.resolve() };
}
