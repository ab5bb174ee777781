import { createHash, createHmac, hash, randomBytes } from 'node:crypto';

/** SHA-256; only this of a random secret is ever stored. */
export const sha256 = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** The same as text, by the quickest way there is: it is done for each request with an API token. */
export const sha256Hex = (secret: string): string => hash('sha256', secret, 'hex');

/** 256 random bits as text that fits a cookie or a link. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

/**
 * The refresh token that follows `spent`. Derived rather than drawn, so that a repeat after a lost answer gets the
 * same one although nothing but hashes is stored.
 */
export const successorOf = (spent: string, key: Buffer): string =>
  createHmac('sha256', key).update(spent).digest('base64url');
