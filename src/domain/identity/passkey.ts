import type { FieldFaults } from '../field-faults.ts';

/** A credential of WebAuthn that a user registered. */
export type Passkey = {
  readonly id: string;
  readonly userId: string;
  readonly name: string;
  /** The authenticator's name for it, base64url. */
  readonly credentialId: string;
  /** COSE. */
  readonly publicKey: Buffer;
  /** The authenticator's count of its uses; one that goes back gives a copy away. 0 where it does not count. */
  readonly counter: number;
  readonly transports: readonly string[];
  /** Whether the user's other devices have it as well. */
  readonly backedUp: boolean;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

export const MAX_PASSKEYS = 20;
export const DEFAULT_PASSKEY_NAME = 'Passkey';

/** Whom passkeys are made for: a domain name, and the origin that the browser must have been at. */
export type RelyingParty = { readonly id: string; readonly origin: string };

/**
 * The relying party at an address, or null where browsers offer no passkeys: on an IP address, and without https.
 * This machine is known by its name, `localhost`, under which they do.
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

/** The challenge that a browser says it answered; null when that cannot be read. What it is worth is checked later. */
export function challengeIn(clientDataJson: string): string | null {
  try {
    const data: unknown = JSON.parse(Buffer.from(clientDataJson, 'base64url').toString());
    const challenge = (data as { challenge?: unknown } | null)?.challenge;
    return typeof challenge === 'string' ? challenge : null;
  } catch {
    return null;
  }
}

/** How authenticators know a user: the bytes of its id, base64url. */
export const userHandleOf = (userId: string): string =>
  Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');

/** Whether a use with this count may follow: it must grow, unless the authenticator does not count at all. */
export const counterHolds = (before: number, now: number): boolean =>
  now > before || (now === 0 && before === 0);

/** A name is trimmed; 1 to 100 characters without control characters. */
export function passkeyNameFaults(name: string): FieldFaults {
  const { length } = [...name];
  return length >= 1 && length <= 100 && !/\p{Cc}/u.test(name)
    ? {}
    : { name: 'must have 1 to 100 characters and no control characters' };
}
