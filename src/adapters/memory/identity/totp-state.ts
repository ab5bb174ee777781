import type { DeviceSignIn } from '../../../domain/identity/device-sign-in.ts';
import type { Tally } from '../../../domain/identity/login-throttle.ts';
import type { Passkey } from '../../../domain/identity/passkey.ts';
import type { TotpFactor } from '../../../domain/identity/second-factor.ts';
import type { PendingPurpose } from '../../../ports/identity/pending-proof-repository.ts';
import { emptyOpenId, type OpenIdState, type StoredProviderSession } from './openid/openid-state.ts';

/** Stored factors, sign-ins at providers, screen locks and failures. Bytes are hex, so that copies compare equal. */
export type FactorState = OpenIdState & {
  totp: Map<string, Omit<TotpFactor, 'sealedSecret'> & { readonly sealedSecret: string }>;
  /** By user, then by hash: whether it is used. */
  recoveryCodes: Map<string, Map<string, boolean>>;
  passkeys: (Omit<Passkey, 'publicKey'> & { readonly publicKey: string })[];
  pending: Map<
    string,
    {
      purpose: PendingPurpose;
      userId: string | null;
      expiresAt: Date;
      tries: number;
      provider: StoredProviderSession | null;
    }
  >;
  /** By the device code's hash. */
  deviceSignIns: Map<string, DeviceSignIn & { readonly userCodeHash: string }>;
  failures: Map<string, Tally>;
  /** By user. */
  passcodes: Map<string, string>;
  /** By user. */
  autoLockMinutes: Map<string, number>;
  /** By session. */
  locks: Map<string, { readonly lockedAt: Date | null; readonly wrong: number }>;
};

export const emptyFactors = (): FactorState => ({
  ...emptyOpenId(),
  totp: new Map(),
  recoveryCodes: new Map(),
  passkeys: [],
  pending: new Map(),
  deviceSignIns: new Map(),
  failures: new Map(),
  passcodes: new Map(),
  autoLockMinutes: new Map(),
  locks: new Map(),
});
