import { randomUUID } from 'node:crypto';
import fastifyJwt from '@fastify/jwt';
import { LOGIN_TOKEN_MINUTES } from '../../domain/session.ts';
import type { Http } from './types.ts';

const ISSUER = 'berth';
const AUDIENCE = 'berth-api';

/** What a verified login token says. Whether its session still holds is for the database. */
export type LoginClaims = { readonly userId: string; readonly sessionId: string };

export type LoginTokens = {
  sign(claims: LoginClaims): { readonly token: string; readonly expiresAt: Date };
  /** null for anything that this installation did not sign, or that is past its time. */
  verify(token: string): LoginClaims | null;
};

/** Signs and verifies with one algorithm and one key (R15). */
export async function loginTokens(http: Http, key: Buffer): Promise<LoginTokens> {
  await http.register(fastifyJwt, {
    secret: key,
    sign: { algorithm: 'HS256', iss: ISSUER, aud: AUDIENCE },
    verify: {
      algorithms: ['HS256'],
      allowedIss: ISSUER,
      allowedAud: AUDIENCE,
      requiredClaims: ['iss', 'aud', 'sub', 'sid', 'exp', 'iat', 'jti'],
      cache: 10_000,
    },
  });
  return {
    sign({ userId, sessionId }) {
      const exp = Math.floor(Date.now() / 1000) + LOGIN_TOKEN_MINUTES * 60;
      const token = http.jwt.sign({ sub: userId, sid: sessionId, jti: randomUUID(), exp });
      return { token, expiresAt: new Date(exp * 1000) };
    },
    verify(token) {
      try {
        const { sub, sid } = http.jwt.verify<{ sub?: unknown; sid?: unknown }>(token);
        return typeof sub === 'string' && typeof sid === 'string' ? { userId: sub, sessionId: sid } : null;
      } catch {
        return null;
      }
    },
  };
}
