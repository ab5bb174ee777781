import { useEffect, useState } from 'preact/hooks';

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
