import { createHash, createHmac, hash, randomBytes } from 'node:crypto';

/** SHA-256, the only stored form of a random secret. */
export const sha256 = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** The same as text, by the fastest function, since each request with an API token needs it. */
export const sha256Hex = (secret: string): string => hash('sha256', secret, 'hex');

/** 256 random bits, as text for a cookie or link. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

/**
 * The refresh token after `spent`. It is derived, so that a repeat after a lost answer gets the same one although only
 * hashes are stored.
 */
export const successorOf = (spent: string, key: Buffer): string =>
  createHmac('sha256', key).update(spent).digest('base64url');
