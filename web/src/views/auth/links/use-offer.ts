import { useEffect, useState } from 'preact/hooks';
import type { AccountLinkCode } from '../../../state/account-links.ts';

export type Offer<T> =
  | { readonly kind: 'checking' }
  /** `failure`: null where the link has no code. */
  | { readonly kind: 'refused'; readonly failure: unknown }
  | { readonly kind: 'open'; readonly code: string; readonly value: T };

/** The code of the newest link, taken once, and what the service says about it. */
export function useOffer<T>(link: AccountLinkCode, check: (code: string) => Promise<T>): Offer<T> {
  const [code, setCode] = useState(link.take);
  const [offer, setOffer] = useState<Offer<T>>(
    code === '' ? { kind: 'refused', failure: null } : { kind: 'checking' },
  );
  useEffect(() => {
    const next = (): void => {
      if (link.waits()) setCode(link.take());
    };
    addEventListener('hashchange', next);
    return () => removeEventListener('hashchange', next);
  }, []);
  useEffect(() => {
    if (code === '') return;
    setOffer({ kind: 'checking' });
    let isNewest = true;
    const settle = (to: Offer<T>): void => {
      if (isNewest) setOffer(to);
    };
    check(code).then(
      (value) => settle({ kind: 'open', code, value }),
      (failure) => settle({ kind: 'refused', failure }),
    );
    return () => {
      isNewest = false;
    };
  }, [code]);
  return offer;
}
