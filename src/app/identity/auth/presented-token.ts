import { isTokenShaped } from '../../../domain/identity/token.ts';
import { sha256Hex } from './secrets.ts';

/** An API token as a request presents it, without its secret. */
export type PresentedToken = {
  /** SHA-256 in hexadecimal, under which tokens are stored. */
  readonly digest: string;
  /** Whether it can be a token at all. */
  readonly isShaped: boolean;
};

export const presentedToken = (secret: string): PresentedToken => ({
  digest: sha256Hex(secret),
  isShaped: isTokenShaped(secret),
});
