import type { ConnectedIdentity } from '../../../domain/identity/openid/connected-identity.ts';

export type NewIdentity = Pick<ConnectedIdentity, 'userId' | 'issuer' | 'subject' | 'email'>;

/** People at OpenID providers, connected to accounts. */
export interface IdentityRepository {
  /** null when that person is connected already, to this account or another. */
  insert(identity: NewIdentity): Promise<ConnectedIdentity | null>;
  find(issuer: string, subject: string): Promise<ConnectedIdentity | null>;
  /** Oldest first. */
  listOf(userId: string): Promise<readonly ConnectedIdentity[]>;
  /** Records a use, and the provider's present address of the person. */
  used(id: string, email: string | null): Promise<void>;
  remove(id: string, userId: string): Promise<boolean>;
}
