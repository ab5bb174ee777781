import { errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import type { Configuration } from 'openid-client';
import { type LogoutStatement, logoutStatement } from '../../../domain/identity/openid/logout-token.ts';
import type { Logger } from '../../../ports/logger.ts';

const MAX_AGE_SECONDS = 300;
const CLOCK_TOLERANCE_SECONDS = 30;

/** Signatures by a private key of the provider. Never `none`, nor a shared secret. */
const ALGORITHMS = ['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'];

/** The statement of a logout token of this provider and for us; null for any other token. */
export async function verifyLogoutToken(
  token: string,
  config: Configuration,
  keys: JWTVerifyGetKey,
  log: Pick<Logger, 'warn'>,
): Promise<LogoutStatement | 'unavailable' | null> {
  const { issuer } = config.serverMetadata();
  const audience = config.clientMetadata().client_id;
  try {
    const { payload } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      maxTokenAge: MAX_AGE_SECONDS,
      requiredClaims: ['iat', 'jti', 'events'],
    });
    return logoutStatement(payload);
  } catch (err) {
    log.warn({ err }, "the OpenID provider's logout token was not accepted");
    return isOutage(err) ? 'unavailable' : null;
  }
}

/** The keys could not be fetched, or what came is none. `JOSEError` itself is thrown for an answer other than 200. */
const isOutage = (err: unknown): boolean =>
  err instanceof errors.JWKSTimeout ||
  err instanceof errors.JWKSInvalid ||
  (err instanceof errors.JOSEError && err.code === errors.JOSEError.code) ||
  (err instanceof TypeError && err.message === 'fetch failed');
