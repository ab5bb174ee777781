import type { TotpFactor } from '../../domain/identity/second-factor.ts';

/** The secrets of authenticator apps. */
export interface TotpRepository {
  totp(userId: string): Promise<TotpFactor | null>;
  /** Replaces an unconfirmed secret. False when one is confirmed. */
  putPendingTotp(userId: string, sealedSecret: Buffer): Promise<boolean>;
  /** Confirms exactly this secret with the code of this step. False when it has changed or is already confirmed. */
  confirmTotp(userId: string, sealedSecret: Buffer, step: number): Promise<boolean>;
  /** Uses a step up. False when it or a later one was used; exactly one of several concurrent calls returns true. */
  acceptStep(userId: string, step: number): Promise<boolean>;
  /** False when there is no confirmed secret. */
  removeTotp(userId: string): Promise<boolean>;
  allSecrets(): Promise<readonly { readonly userId: string; readonly sealedSecret: Buffer }[]>;
  /** Re-encrypts the secret; does nothing when it has changed. */
  replaceSecret(userId: string, from: Buffer, to: Buffer): Promise<void>;
}
