import type { Passkey, RelyingParty } from '../../domain/identity/passkey.ts';

/** Browser input and output, in the JSON forms of WebAuthn Level 3. */
export type BrowserOptions = { readonly challenge: string } & { readonly [name: string]: unknown };

type Answer = { readonly id: string; readonly rawId: string; readonly type: string };

export type RegistrationAnswer = Answer & {
  readonly response: {
    readonly clientDataJSON: string;
    readonly attestationObject: string;
    readonly transports?: readonly string[];
  };
};

export type AssertionAnswer = Answer & {
  readonly response: {
    readonly clientDataJSON: string;
    readonly authenticatorData: string;
    readonly signature: string;
    readonly userHandle?: string | null;
  };
};

export type Registered = Pick<Passkey, 'credentialId' | 'publicKey' | 'counter' | 'transports' | 'backedUp'>;

/** The cryptography of passkeys. Challenges are base64url; the caller checks that it issued them. */
export interface PasskeyCeremonies {
  creationOptions(
    party: RelyingParty,
    user: { readonly id: string; readonly name: string },
    challenge: string,
    exclude: readonly Passkey[],
  ): Promise<BrowserOptions>;
  /** `allow` null: any passkey of the authenticator for this party; it must then verify its user. */
  requestOptions(
    party: RelyingParty,
    challenge: string,
    allow: readonly Passkey[] | null,
  ): Promise<BrowserOptions>;
  /** null for an invalid answer. */
  register(party: RelyingParty, challenge: string, answer: RegistrationAnswer): Promise<Registered | null>;
  /** null for an invalid answer or a decreased counter. */
  assert(
    party: RelyingParty,
    challenge: string,
    answer: AssertionAnswer,
    passkey: Passkey,
    mustVerifyUser: boolean,
  ): Promise<{ readonly counter: number; readonly backedUp: boolean } | null>;
}
