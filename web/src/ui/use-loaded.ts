import { useEffect, useState } from 'preact/hooks';

/** What `load` brings; null until it has. `reload` resolves when the newer is shown; the older stays meanwhile. */
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
