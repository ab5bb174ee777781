/** The page to which the OpenID provider sends the browser back. */
export const PROVIDER_PATH = '/sign-in/provider';

/** Why the service sends the browser back without a sign-in. */
const REFUSALS = [
  'provider_sign_in_expired',
  'provider_denied',
  'provider_rejected',
  'provider_unavailable',
  'provider_not_set_up',
  'rate_limited',
] as const;

type ReturnRefusal = (typeof REFUSALS)[number];

export type ProviderReturn =
  | { readonly kind: 'refused'; readonly code: ReturnRefusal }
  | {
      readonly kind: 'arrived';
      readonly id: string;
      readonly purpose: 'sign_in' | 'link' | 'confirm';
      readonly returnPath: string;
    };

let waiting: ProviderReturn | null = null;

/** Takes the provider's answer out of the address bar and the history. */
export function startProviderReturn(): void {
  if (location.pathname !== PROVIDER_PATH || location.hash === '') return;
  waiting = returnIn(new URLSearchParams(location.hash.slice(1)));
  history.replaceState(null, '', PROVIDER_PATH);
}

/** The provider's answer, once; null when there is none. */
export function takeProviderReturn(): ProviderReturn | null {
  const taken = waiting;
  waiting = null;
  return taken;
}

/** Anybody can write a link to this page, so it shows no text of the address. */
const refusalIn = (wanted: string): ReturnRefusal =>
  REFUSALS.find((code) => code === wanted) ?? 'provider_rejected';

/** What the part of the address behind `#` says; null when it says nothing. */
export function returnIn(hash: URLSearchParams): ProviderReturn | null {
  const refused = hash.get('refused');
  if (refused !== null) return { kind: 'refused', code: refusalIn(refused) };
  const [id, purpose, to] = [hash.get('arrived'), hash.get('purpose'), hash.get('return') ?? '/'];
  if (id === null || (purpose !== 'sign_in' && purpose !== 'link' && purpose !== 'confirm')) return null;
  return { kind: 'arrived', id, purpose, returnPath: /^\/(?![/\\])/.test(to) ? to : '/' };
}
