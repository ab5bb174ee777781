/** People at OpenID providers, and sign-ins there. */
import type { Generated } from 'kysely';
import type { ProviderSession } from '../../../domain/identity/openid/connected-identity.ts';
import type { ProviderPurpose } from '../../../domain/identity/openid/provider-purpose.ts';
import type { ProviderClaims } from '../../../domain/identity/openid/provider-sign-in.ts';
import type { Json } from './column-types.ts';

export type IdentitiesTable = {
  id: Generated<string>;
  user_id: string;
  issuer: string;
  subject: string;
  email: string | null;
  created_at: Generated<Date>;
  last_used_at: Date | null;
};

/** JSON has no times. */
export type StoredClaims = Omit<ProviderClaims, 'authTime'> & { readonly authTime: string | null };

export type ProviderSignInsTable = {
  id: Generated<string>;
  state_hash: Buffer;
  browser_hash: Buffer;
  purpose: ProviderPurpose;
  session_id: string | null;
  invitation_hash: Buffer | null;
  nonce: string;
  code_verifier: string;
  return_path: string;
  started_at: Generated<Date>;
  expires_at: Date;
  spent_at: Date | null;
  claims: Json<StoredClaims> | null;
  sealed_id_token: Buffer | null;
};

/** The ID token as base64. */
export type StoredProviderSession = Omit<ProviderSession, 'sealedIdToken'> & {
  readonly sealedIdToken: string | null;
};

type ProviderSessionsTable = {
  session_id: string;
  issuer: string;
  subject: string;
  provider_sid: string | null;
  sealed_id_token: Buffer | null;
};

type ProviderSignOutsTable = {
  issuer: string;
  subject: string | null;
  provider_sid: string | null;
  at: Generated<Date>;
  expires_at: Date;
};

type UsedLogoutTokensTable = { hash: Buffer; expires_at: Date };

export type OpenIdTables = {
  identities: IdentitiesTable;
  provider_sign_ins: ProviderSignInsTable;
  provider_sessions: ProviderSessionsTable;
  provider_sign_outs: ProviderSignOutsTable;
  used_logout_tokens: UsedLogoutTokensTable;
};
