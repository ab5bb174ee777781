import type { RequestOrigin } from '../../domain/identity/caller.ts';
import type { DeviceDecision, DeviceSignIn } from '../../domain/identity/device-sign-in.ts';

export type NewDeviceSignIn = {
  readonly deviceHash: Buffer;
  readonly userCodeHash: Buffer;
  readonly machine: string;
  readonly origin: RequestOrigin;
};

/** Sign-ins that wait for a decision or for its fetching, by the SHA-256 of their codes. An expired one does not exist. */
export interface DeviceSignInRepository {
  /** Returns the expiry time; null where the user code is in use. */
  insert(started: NewDeviceSignIn, lifeMinutes: number): Promise<Date | null>;
  /** How many there are: from the address, and in all. */
  count(ipAddress: string): Promise<{ readonly ofAddress: number; readonly all: number }>;
  /** Locks it until the transaction ends. `now` is the database's clock. */
  lock(deviceHash: Buffer): Promise<{ readonly signIn: DeviceSignIn; readonly now: Date } | null>;
  polled(deviceHash: Buffer): Promise<void>;
  /** One that nobody has decided. */
  findUndecided(userCodeHash: Buffer): Promise<DeviceSignIn | null>;
  /** Decides it for at most `lifeSeconds` more. false when it is decided or gone: of several at once one counts. */
  decide(userCodeHash: Buffer, decision: DeviceDecision, lifeSeconds: number): Promise<boolean>;
  remove(deviceHash: Buffer): Promise<void>;
}
