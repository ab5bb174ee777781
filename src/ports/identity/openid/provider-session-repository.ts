import type { ProviderSession } from '../../../domain/identity/openid/connected-identity.ts';
import type { SignedOut } from '../../../domain/identity/openid/logout-token.ts';
import type { UserSession } from '../../../domain/identity/session.ts';

/** The provider's side of sessions. */
export interface ProviderSessionRepository {
  insert(sessionId: string, session: ProviderSession): Promise<void>;
  find(sessionId: string): Promise<ProviderSession | null>;
  /**
   * Sessions that are not revoked and that a sign-out of the provider ends. Of a person whose sessions it did not name,
   * it ends all of these.
   */
  listOf(whom: SignedOut): Promise<readonly Pick<UserSession, 'id' | 'userId'>[]>;
  /**
   * Remembers a sign-out, once the transactions that have asked about one have ended; those that ask later wait for this
   * one. Call both before any lock that the other's transaction may wait for.
   */
  noteSignOut(whom: SignedOut, lifeMinutes: number): Promise<void>;
  /** Whether the provider has signed that person or session out since then. */
  wasSignedOut(whom: Pick<ProviderSession, 'issuer' | 'subject' | 'sid'>, since: Date): Promise<boolean>;
  /** False when that token was used before. */
  useLogoutToken(hash: Buffer, lifeMinutes: number): Promise<boolean>;
}
