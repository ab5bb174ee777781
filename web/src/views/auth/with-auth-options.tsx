import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { AuthOptions } from '../../api/types.ts';
import { authOptions } from '../../session/actions.ts';
import { Arriving } from '../../ui/button.tsx';

/** A form appears without the options after this long: signing in works without them. */
const PATIENCE_MS = 1_500;

/** The newest options. */
let known: AuthOptions | null = null;

type Props = { readonly children: (options: AuthOptions | null) => ComponentChildren };

/** Shows its children when the options are known, so that nothing moves afterwards. */
export function WithAuthOptions({ children }: Props) {
  const [options, setOptions] = useState(known);
  const [waiting, setWaiting] = useState(known === null);
  useEffect(() => {
    const settle = () => setWaiting(false);
    const patience = setTimeout(settle, PATIENCE_MS);
    authOptions().then((answer) => {
      known = answer;
      setOptions(answer);
      settle();
    }, settle);
    return () => clearTimeout(patience);
  }, []);
  if (!waiting) return children(options);
  return <Arriving words="One moment…" />;
}
