/** A person at an OpenID provider, connected to an account. Issuer and subject identify it, and nothing else does. */
export type ConnectedIdentity = {
  readonly id: string;
  readonly userId: string;
  readonly issuer: string;
  readonly subject: string;
  /** What the provider last said; for display. */
  readonly email: string | null;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
};

/** Connected identities of one account. */
export const MAX_IDENTITIES = 10;

/** A provider's session behind a session of ours, so that the provider's sign-out ends it. */
export type ProviderSession = {
  readonly issuer: string;
  readonly subject: string;
  /** The provider's own id of its session; null when it names none. */
  readonly sid: string | null;
  /** Encrypted; the hint with which the provider knows whom to sign out. */
  readonly sealedIdToken: Buffer | null;
};

/** Whether the account keeps a way in without one of its identities. A passkey does not count: it can be removed. */
export const keepsWayIn = (hasPassword: boolean, identities: number): boolean =>
  hasPassword || identities > 1;
