import type { HostKeyType } from '../../domain/identity/ssh-host-key.ts';

export type StoredHostKey = {
  readonly type: HostKeyType;
  /** `type base64`. */
  readonly publicKey: string;
  readonly sealedPrivateKey: Buffer;
};

/** The keys by which SSH clients recognize the installation, one of each type. */
export interface SshHostKeyRepository {
  list(): Promise<readonly StoredHostKey[]>;
  /** Keeps a stored key of the same type. */
  insertMissing(key: StoredHostKey): Promise<void>;
  /** Replaces the key of its type only while it is `before`, so that of several replacements one remains. */
  replace(before: StoredHostKey, after: StoredHostKey): Promise<void>;
}

export interface HostKeyMaker {
  /** A new key: its private half as OpenSSH stores it. */
  make(type: HostKeyType): Promise<{ readonly publicKey: string; readonly privateKey: string }>;
  /** Whether an SSH server can use a key. */
  isUsable(privateKey: string): boolean;
}
