/** Whom a provider signs out: all sessions of a person, or those of one of the provider's sessions. */
export type SignedOut = {
  readonly issuer: string;
  readonly subject: string | null;
  readonly sid: string | null;
};

/** A verified logout token's statement; `tokenId` makes it usable once. */
export type LogoutStatement = SignedOut & { readonly tokenId: string };

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Longer than a logout token is accepted. */
export const LOGOUT_TOKEN_MINUTES = 15;

const textIn = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' && value.length <= 255 ? value : null;

/**
 * What a logout token says, by OpenID Connect Back-Channel Logout 1.0, whose signature, issuer, audience and age are
 * verified. null for anything else, such as an ID token.
 */
export function logoutStatement(claims: Readonly<Record<string, unknown>>): LogoutStatement | null {
  const { iss, sub, sid, jti, events, nonce } = claims;
  const [issuer, tokenId] = [textIn(iss), textIn(jti)];
  if (issuer === null || tokenId === null || nonce !== undefined) return null;
  if (typeof events !== 'object' || events === null || !Object.hasOwn(events, LOGOUT_EVENT)) return null;
  const event = (events as Record<string, unknown>)[LOGOUT_EVENT];
  if (typeof event !== 'object' || event === null) return null;
  const [subject, session] = [textIn(sub), textIn(sid)];
  return subject === null && session === null ? null : { issuer, tokenId, subject, sid: session };
}
