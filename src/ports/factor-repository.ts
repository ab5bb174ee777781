import type { TotpFactor } from '../domain/mfa.ts';

/** Second factors of users: the secret of an authenticator app, and recovery codes by their SHA-256. */
export interface FactorRepository {
  totp(userId: string): Promise<TotpFactor | null>;
  /** Replaces a secret that was never confirmed. False when one is confirmed already. */
  putPendingTotp(userId: string, sealedSecret: Buffer): Promise<boolean>;
  /** Confirms exactly this secret by the code of this step. False when it is another one now, or confirmed already. */
  confirmTotp(userId: string, sealedSecret: Buffer, step: number): Promise<boolean>;
  /** Uses a step up. False when it, or a later one, was used before; of several at once exactly one gets true. */
  acceptStep(userId: string, step: number): Promise<boolean>;
  /** Removes the secret and the recovery codes. False when there is no confirmed secret. */
  removeTotp(userId: string): Promise<boolean>;
  replaceRecoveryCodes(userId: string, hashes: readonly Buffer[]): Promise<void>;
  /** Uses the code up. Of several at once exactly one gets true. */
  spendRecoveryCode(userId: string, hash: Buffer): Promise<boolean>;
  recoveryCodesLeft(userId: string): Promise<number>;
}
