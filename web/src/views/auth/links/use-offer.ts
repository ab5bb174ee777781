import { useEffect, useState } from 'preact/hooks';
import type { AccountLinkCode } from '../../../state/account-links.ts';

export type Offer<T> =
  | { readonly kind: 'checking' }
  /** `failure`: null where the link has no code. */
  | { readonly kind: 'refused'; readonly failure: unknown }
  | { readonly kind: 'open'; readonly code: string; readonly value: T };

/** The code of the link, taken once, and what the service says about it. */
export function useOffer<T>(link: AccountLinkCode, check: (code: string) => Promise<T>): Offer<T> {
  const [code] = useState(link.take);
  const [offer, setOffer] = useState<Offer<T>>(
    code === '' ? { kind: 'refused', failure: null } : { kind: 'checking' },
  );
  useEffect(() => {
    if (code === '') return;
    check(code).then(
      (value) => setOffer({ kind: 'open', code, value }),
      (failure) => setOffer({ kind: 'refused', failure }),
    );
  }, [code]);
  return offer;
}
