import { randomUUID } from 'node:crypto';
import fastifyJwt, { type FastifyJWTOptions, type JWT } from '@fastify/jwt';
import { LRUCache } from 'lru-cache';
import { LOGIN_TOKEN_MINUTES } from '../../../domain/identity/session.ts';
import type { Http } from '../fastify-types.ts';
import { type Claims, readClaims } from './login-token-claims.ts';

const ALGORITHM = 'HS256';
/** RFC 9068: a token for another purpose with the same key is never accepted here. */
const TYPE = 'at+jwt';
const ISSUER = 'berth';
const AUDIENCE = 'berth-api';
const MIN_KEY_BYTES = 32;
const MAX_CACHED = 10_000;
const MAX_LENGTH = 2_048;
/** Three parts; 32 bytes of signature in their only spelling, so that a token has one text. */
const SHAPE = /^[\w-]+\.[\w-]+\.[\w-]{42}[AEIMQUYcgkosw048]$/;

/** The claims of a verified login token. The database decides about its session. */
export type LoginClaims = { readonly userId: string; readonly sessionId: string };

export type SigningKey = { readonly id: string; readonly loginTokenSecret: Buffer };

/** The first signs, all verify. The same array until something changes. */
export type SigningKeys = () => readonly SigningKey[];

export type LoginTokens = {
  sign(claims: LoginClaims): { readonly token: string; readonly expiresAt: Date };
  /** null for a foreign or expired token. */
  verify(token: string): LoginClaims | null;
};

/**
 * Signs and verifies with one algorithm. The whole header determines the key: only the headers that live keys write are
 * accepted, so nothing in a foreign one is interpreted.
 */
export async function loginTokens(http: Http, keys: SigningKeys): Promise<LoginTokens> {
  const [first] = usable(keys());
  const jwt = await jwtOf(http, {
    secret: first.loginTokenSecret,
    sign: { algorithm: ALGORITHM, iss: ISSUER, aud: AUDIENCE },
    verify: {
      algorithms: [ALGORITHM],
      checkTyp: TYPE,
      allowedIss: ISSUER,
      allowedAud: AUDIENCE,
      requiredClaims: ['iss', 'aud', 'sub', 'sid', 'exp', 'iat', 'jti'],
    },
  });
  const sign = (payload: object, key: SigningKey): string =>
    jwt.sign(payload, { key: key.loginTokenSecret, header: { alg: ALGORITHM, typ: TYPE, kid: key.id } });
  const keyByHeader = byHeader(sign, keys);
  const verifyCached = verified(keys);

  function verifyNow(token: string): Claims | null {
    const shaped = token.length <= MAX_LENGTH && SHAPE.test(token);
    const key = shaped ? keyByHeader(token.split('.', 1)[0] ?? '') : undefined;
    if (key === undefined) return null;
    try {
      return readClaims(jwt.verify(token, { key: key.loginTokenSecret }), {
        issuer: ISSUER,
        audience: AUDIENCE,
      });
    } catch {
      return null;
    }
  }

  return {
    sign({ userId, sessionId }) {
      const expiresAtSeconds = Math.floor(Date.now() / 1000) + LOGIN_TOKEN_MINUTES * 60;
      const payload = { sub: userId, sid: sessionId, jti: randomUUID(), exp: expiresAtSeconds };
      return { token: sign(payload, usable(keys())[0]), expiresAt: new Date(expiresAtSeconds * 1000) };
    },
    verify: (token) => verifyCached(token, verifyNow),
  };
}

/** The plugin in a scope of its own: the request fields that it adds are unused, and would slow every request. */
async function jwtOf(http: Http, options: FastifyJWTOptions): Promise<JWT> {
  const { promise, resolve } = Promise.withResolvers<JWT>();
  await http.register(async (scope) => {
    await scope.register(fastifyJwt, options);
    resolve(scope.jwt);
  });
  return await promise;
}

/** Without a key, or with a short one, anybody could sign. */
function usable(keys: readonly SigningKey[]): readonly [SigningKey, ...SigningKey[]] {
  const [first, ...rest] = keys;
  if (first === undefined || keys.some(({ loginTokenSecret }) => loginTokenSecret.length < MIN_KEY_BYTES)) {
    throw new Error('login tokens need keys of at least 32 bytes');
  }
  return [first, ...rest];
}

/** The live keys by the header that each writes. */
function byHeader(sign: (payload: object, key: SigningKey) => string, keys: SigningKeys) {
  let seen: readonly SigningKey[] = [];
  let headers: ReadonlyMap<string, SigningKey> = new Map();
  return (header: string): SigningKey | undefined => {
    const live = keys();
    if (live !== seen) {
      headers = new Map(usable(live).map((key) => [sign({}, key).split('.', 1)[0] ?? '', key]));
      seen = live;
    }
    return headers.get(header);
  };
}

/** Caches verified tokens until they expire or a key changes; verifying is expensive. */
function verified(keys: SigningKeys) {
  // unlike `max`, this allocates nothing in advance
  const cache = new LRUCache<string, Claims>({ maxSize: MAX_CACHED, sizeCalculation: () => 1 });
  let seen = keys();
  return (token: string, verify: (token: string) => Claims | null): LoginClaims | null => {
    const live = keys();
    if (live !== seen) cache.clear();
    seen = live;
    const found = cache.get(token);
    if (found !== undefined && Date.now() < found.expiresAtMs) return found;
    const claims = verify(token);
    cache.set(token, claims ?? undefined);
    return claims;
  };
}
