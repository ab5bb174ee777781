import type { SignedOut } from '../../../domain/identity/openid/logout-token.ts';
import type { ProviderPurpose } from '../../../domain/identity/openid/provider-purpose.ts';
import type { ProviderClaims } from '../../../domain/identity/openid/provider-sign-in.ts';

export type NewProviderSignIn = {
  readonly stateHash: Buffer;
  readonly browserHash: Buffer;
  readonly purpose: ProviderPurpose;
  /** The session that connects or confirms; else null. */
  readonly sessionId: string | null;
  /** The digest of the code of the invitation to accept; else null. */
  readonly invitationHash: Buffer | null;
  readonly nonce: string;
  readonly codeVerifier: string;
  readonly returnPath: string;
};

export type StartedProviderSignIn = NewProviderSignIn & { readonly id: string; readonly startedAt: Date };

export type ArrivedProviderSignIn = Pick<
  StartedProviderSignIn,
  'purpose' | 'sessionId' | 'invitationHash' | 'startedAt'
> & {
  readonly claims: ProviderClaims;
  readonly sealedIdToken: Buffer;
};

/** Sign-ins at a provider that are not complete. An expired one does not exist. */
export interface ProviderSignInRepository {
  insert(signIn: NewProviderSignIn, lifeMinutes: number): Promise<void>;
  /** Uses the state up: exactly one of several concurrent calls gets the sign-in, the others null. */
  spend(stateHash: Buffer): Promise<StartedProviderSignIn | null>;
  /** Stores what the provider said. */
  arrive(id: string, claims: ProviderClaims, sealedIdToken: Buffer): Promise<void>;
  /** An arrived one of that browser, which stays. */
  find(id: string, browserHash: Buffer): Promise<ArrivedProviderSignIn | null>;
  /** Removes and returns an arrived one of that browser, once. */
  finish(id: string, browserHash: Buffer): Promise<ArrivedProviderSignIn | null>;
  /** Removes those whose person the provider has signed out, and pending sign-ins that lack a second factor. */
  endAll(whom: SignedOut): Promise<void>;
}
