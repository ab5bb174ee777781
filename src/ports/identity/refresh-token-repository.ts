import type { RefreshToken } from '../../domain/identity/session.ts';

/** Refresh tokens of sessions. Each is used once, and known by its SHA-256. */
export interface RefreshTokenRepository {
  insert(hash: Buffer, sessionId: string): Promise<void>;
  /** Locks the token until the transaction ends; `now` is the database's clock. */
  lock(hash: Buffer): Promise<(RefreshToken & { readonly now: Date }) | null>;
  spend(hash: Buffer, client: string): Promise<void>;
}
