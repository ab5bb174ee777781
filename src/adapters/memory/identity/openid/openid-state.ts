import type {
  ConnectedIdentity,
  ProviderSession,
} from '../../../../domain/identity/openid/connected-identity.ts';
import type { SignedOut } from '../../../../domain/identity/openid/logout-token.ts';
import type { ProviderClaims } from '../../../../domain/identity/openid/provider-sign-in.ts';
import type { StartedProviderSignIn } from '../../../../ports/identity/openid/provider-sign-in-repository.ts';

/** Bytes are hex, so that copies compare equal. */
export type StoredProviderSession = Omit<ProviderSession, 'sealedIdToken'> & {
  readonly sealedIdToken: string | null;
};

/** Stored people at OpenID providers, and sign-ins there. */
export type OpenIdState = {
  identities: ConnectedIdentity[];
  providerSignIns: (Omit<StartedProviderSignIn, 'stateHash' | 'browserHash' | 'invitationHash'> & {
    readonly stateHash: string;
    readonly browserHash: string;
    readonly invitationHash: string | null;
    readonly expiresAt: Date;
    readonly isSpent: boolean;
    readonly claims: ProviderClaims | null;
    readonly sealedIdToken: string;
  })[];
  /** By session. */
  providerSessions: Map<string, StoredProviderSession>;
  providerSignOuts: (SignedOut & { readonly at: Date; readonly expiresAt: Date })[];
  /** The end of each used logout token, by its digest. */
  usedLogoutTokens: Map<string, Date>;
};

export const emptyOpenId = (): OpenIdState => ({
  identities: [],
  providerSignIns: [],
  providerSessions: new Map(),
  providerSignOuts: [],
  usedLogoutTokens: new Map(),
});

export const toStoredSession = (session: ProviderSession): StoredProviderSession => ({
  ...session,
  sealedIdToken: session.sealedIdToken?.toString('hex') ?? null,
});

export const fromStoredSession = (stored: StoredProviderSession): ProviderSession => ({
  ...stored,
  sealedIdToken: stored.sealedIdToken === null ? null : Buffer.from(stored.sealedIdToken, 'hex'),
});
