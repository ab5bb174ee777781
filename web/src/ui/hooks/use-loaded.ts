import { useEffect, useRef, useState } from 'preact/hooks';
import { type Polling, poll } from '../../state/poll.ts';

/** The result of `load`; null before it. `reload` resolves when the new result is shown; the old one stays meanwhile. */
export function useLoaded<T>(load: () => Promise<T>) {
  const [value, setValue] = useState<T | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const reload = async (): Promise<void> => {
    try {
      setValue(await load());
      setFailure(null);
    } catch (reason) {
      setFailure(reason);
    }
  };
  useEffect(() => void reload(), []);
  return { value, failure, reload };
}

/**
 * The same, read again at an interval while the page is visible. A failure after the first result leaves the result: the
 * page itself reports that the service is gone.
 */
export function usePolled<T>(load: () => Promise<T>, everyMs: number) {
  const [value, setValue] = useState<T | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const polling = useRef<Polling | null>(null);
  useEffect(() => {
    let isKnown = false;
    const read = async (): Promise<void> => {
      try {
        setValue(await load());
        setFailure(null);
        isKnown = true;
      } catch (reason) {
        if (!isKnown) setFailure(reason);
      }
    };
    polling.current = poll(read, () => everyMs);
    return () => polling.current?.stop();
  }, []);
  return { value, failure, reload: async (): Promise<void> => await polling.current?.now() };
}
