import { useEffect, useRef, useState } from 'preact/hooks';
import { getContainer } from '../../api/containers.ts';
import { hasStatus } from '../../api/request.ts';
import { type Polling, poll } from '../../state/polling.ts';
import type { Known } from './overlay-kind.ts';

const SETTLED_MS = 5_000;
const CHANGING_MS = 700;

const isSettled = (known: Known): boolean =>
  typeof known === 'object' && ['running', 'stopped'].includes(known.status);

/** The container as it is now, looked at every few seconds. */
export function useContainer(id: string): { readonly known: Known; readonly look: () => Promise<void> } {
  const [known, setKnown] = useState<Known>('unknown');
  const latest = useRef<Known>('unknown');
  const polling = useRef<Polling | null>(null);
  useEffect(() => {
    const learn = (next: Known): void => {
      if (JSON.stringify(next) === JSON.stringify(latest.current)) return;
      latest.current = next;
      setKnown(next);
    };
    const look = async (): Promise<void> => {
      try {
        learn(await getContainer(id));
      } catch (failure) {
        if (hasStatus(failure, 404)) learn('gone');
      }
    };
    polling.current = poll(look, () => (isSettled(latest.current) ? SETTLED_MS : CHANGING_MS));
    return () => polling.current?.stop();
  }, [id]);
  return { known, look: () => polling.current?.now() ?? Promise.resolve() };
}
