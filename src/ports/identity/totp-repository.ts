import type { TotpFactor } from '../../domain/identity/second-factor.ts';

/** The secrets of authenticator apps. */
export interface TotpRepository {
  totp(userId: string): Promise<TotpFactor | null>;
  /** Replaces a secret that was never confirmed. False when one is confirmed already. */
  putPendingTotp(userId: string, sealedSecret: Buffer): Promise<boolean>;
  /** Confirms exactly this secret by the code of this step. False when it is another one now, or confirmed already. */
  confirmTotp(userId: string, sealedSecret: Buffer, step: number): Promise<boolean>;
  /** Uses a step up. False when it, or a later one, was used before; of several at once exactly one gets true. */
  acceptStep(userId: string, step: number): Promise<boolean>;
  /** False when there is no confirmed secret. */
  removeTotp(userId: string): Promise<boolean>;
  allSecrets(): Promise<readonly { readonly userId: string; readonly sealedSecret: Buffer }[]>;
  /** The same secret, encrypted anew. Does nothing when it is another one by now. */
  replaceSecret(userId: string, from: Buffer, to: Buffer): Promise<void>;
}
