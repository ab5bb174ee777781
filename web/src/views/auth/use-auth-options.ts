import { useEffect, useState } from 'preact/hooks';
import type { AuthOptions } from '../../api/types.ts';
import { authOptions } from '../../session/actions.ts';

/** What this Berth offers, or null until it has said so; signing in works without it. */
export function useAuthOptions(): AuthOptions | null {
  const [options, setOptions] = useState<AuthOptions | null>(null);
  useEffect(() => {
    authOptions().then(setOptions, () => {});
  }, []);
  return options;
}
