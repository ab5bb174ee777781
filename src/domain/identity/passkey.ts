import type { FieldFaults } from '../field-faults.ts';

/** A user's registered WebAuthn credential. */
export type Passkey = {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** The authenticator's id for it, base64url. */
  readonly credentialId: string;
  readonly publicKey: Buffer;
  /** The authenticator's use counter; a decrease reveals a copy. 0 if it does not count. */
  readonly counter: number;
  readonly transports: readonly string[];
  /** Whether it is synchronised to the user's other devices. */
  readonly backedUp: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

export const MAX_PASSKEYS = 20;
export const DEFAULT_PASSKEY_NAME = 'Passkey';

/** Where passkeys are valid: a domain name, and the browser's origin. */
export type RelyingParty = { readonly id: string; readonly origin: string };

/**
 * The relying party of a public address; null where browsers offer no passkeys: for IP addresses and without https,
 * except `localhost`.
 */
export function relyingPartyAt(publicUrl: string): RelyingParty | null {
  if (!URL.canParse(publicUrl)) return null;
  const url = new URL(publicUrl);
  if (['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)) {
    return { id: 'localhost', origin: `${url.protocol}//localhost${url.port === '' ? '' : `:${url.port}`}` };
  }
  const isAddress = url.hostname.startsWith('[') || /^[0-9.]+$/.test(url.hostname);
  return url.protocol !== 'https:' || isAddress ? null : { id: url.hostname, origin: url.origin };
}

/** The challenge that a browser claims to answer; null when unreadable. It is verified later. */
export function challengeIn(clientDataJson: string): string | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString());
    const challenge = (data as { challenge?: unknown } | null)?.challenge;
    return typeof challenge === 'string' ? challenge : null;
  } catch {
    return null;
  }
}

/** The user's id for authenticators, base64url. */
export const userHandleOf = (userId: string): string =>
  Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');

/** Whether a use with this counter is valid: it must grow, unless the authenticator does not count. */
export const counterHolds = (before: number, now: number): boolean =>
  now > before || (now === 0 && before === 0);

/** Trimmed; 1 to 100 characters without control characters. */
export function passkeyNameFaults(name: string): FieldFaults {
  const { length } = [...name];
  return length >= 1 && length <= 100 && !/\p{Cc}/u.test(name)
    ? {}
    : { name: 'must have 1 to 100 characters and no control characters' };
}
