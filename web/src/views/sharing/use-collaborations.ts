import { useEffect, useRef, useState } from 'preact/hooks';
import { listCollaborations } from '../../api/terminals/collaborations.ts';
import type { Collaboration } from '../../api/types.ts';
import { type Polling, poll } from '../../state/poll.ts';

const EVERY_MS = 3_000;

/** The live collaborations of an own container, polled every few seconds; null before the first answer. */
export function useCollaborations(container: string): {
  readonly list: readonly Collaboration[] | null;
  readonly failure: unknown;
  readonly refresh: () => Promise<void>;
} {
  const [list, setList] = useState<readonly Collaboration[] | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const polling = useRef<Polling | null>(null);
  useEffect(() => {
    const refresh = (): Promise<void> =>
      listCollaborations(container).then((found) => {
        setFailure(null);
        setList(found);
      }, setFailure);
    polling.current = poll(refresh, () => EVERY_MS);
    return () => polling.current?.stop();
  }, [container]);
  return { list, failure, refresh: () => polling.current?.now() ?? Promise.resolve() };
}
