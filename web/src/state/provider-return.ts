import type { ProviderPurpose } from '../../../src/domain/identity/openid/provider-purpose.ts';
import type { ReturnRefusal } from '../../../src/domain/identity/openid/provider-refusal.ts';
import { PROVIDER_WORDS } from '../api/words/provider-words.ts';

/** The page to which the OpenID provider sends the browser back. */
export const PROVIDER_PATH = '/sign-in/provider';

export type ProviderReturn =
  | { readonly kind: 'refused'; readonly code: ReturnRefusal }
  | {
      readonly kind: 'arrived';
      readonly id: string;
      readonly purpose: ProviderPurpose;
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
  isIn(PROVIDER_WORDS, wanted) ? wanted : 'provider_rejected';

const PURPOSES = {
  sign_in: true,
  invitation: true,
  link: true,
  confirm: true,
} as const satisfies Record<ProviderPurpose, true>;

const isIn = <Key extends string>(table: Readonly<Record<Key, unknown>>, key: string): key is Key =>
  Object.hasOwn(table, key);

/** What the part of the address behind `#` says; null when it says nothing. */
export function returnIn(hash: URLSearchParams): ProviderReturn | null {
  const refused = hash.get('refused');
  if (refused !== null) return { kind: 'refused', code: refusalIn(refused) };
  const [id, purpose, to] = [hash.get('arrived'), hash.get('purpose'), hash.get('return') ?? '/'];
  if (id === null || purpose === null || !isIn(PURPOSES, purpose)) return null;
  return { kind: 'arrived', id, purpose, returnPath: /^\/(?![/\\])/.test(to) ? to : '/' };
}
