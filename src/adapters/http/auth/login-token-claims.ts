import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { Value } from '@sinclair/typebox/value';
import { LOGIN_TOKEN_MINUTES } from '../../../domain/identity/session.ts';

/** How far the clock of the replica that issued a token may be ahead. */
const LEEWAY_SECONDS = 30;

const uuid = Type.String({ pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' });
const seconds = Type.Integer({ minimum: 0, maximum: 2 ** 40 });

/** Exactly what `sign` writes: one issuer, one audience, and no unused claim. */
const Payload = Type.Object(
  {
    iss: Type.String(),
    aud: Type.String(),
    sub: uuid,
    sid: uuid,
    jti: uuid,
    iat: seconds,
    exp: seconds,
  },
  { additionalProperties: false },
);

export type Claims = { readonly userId: string; readonly sessionId: string; readonly expiresAtMs: number };

/**
 * The claims of a payload with a valid signature; null unless it is an object with every claim, of the right type, at a
 * possible time. The library is not trusted with this.
 */
export function readClaims(
  payload: unknown,
  { issuer, audience }: { readonly issuer: string; readonly audience: string },
): Claims | null {
  if (!isPayload(Payload, payload)) return null;
  const { iss, aud, sub, sid, iat, exp } = payload;
  const nowSeconds = Date.now() / 1000;
  const isInForce = iat <= nowSeconds + LEEWAY_SECONDS && nowSeconds < exp;
  const isLifeAllowed = exp > iat && exp - iat <= LOGIN_TOKEN_MINUTES * 60;
  if (iss !== issuer || aud !== audience || !isInForce || !isLifeAllowed) return null;
  return { userId: sub, sessionId: sid, expiresAtMs: exp * 1000 };
}

const isPayload = <T extends TSchema>(schema: T, value: unknown): value is Static<T> =>
  Value.Check(schema, value);
