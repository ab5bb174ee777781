import fc from 'fast-check';
import type { Service } from '../../../src/app/main/service.ts';
import { anyCharacter } from '../samples/samples.ts';
import type { Person } from './service.ts';

const ROUTES = [
  ['POST', '/api/auth/guest', ['username']],
  ['POST', '/api/auth/login', ['email', 'password']],
  ['POST', '/api/auth/mfa', ['mfa_token', 'code', 'credential']],
  ['POST', '/api/auth/mfa/options', ['mfa_token']],
  ['POST', '/api/auth/oidc/finish', ['id', 'username']],
  ['POST', '/api/auth/oidc/invitation', ['code']],
  ['POST', '/api/auth/passkey/options', []],
  ['POST', '/api/auth/passkey/verify', ['credential']],
  ['POST', '/api/auth/refresh', []],
  ['PATCH', '/api/me', ['username', 'auto_lock_minutes']],
  ['POST', '/api/me/password', ['old_password', 'new_password', 'code']],
  ['POST', '/api/me/mfa/confirm', ['code', 'password']],
  ['POST', '/api/me/mfa/recovery-codes', ['code']],
  ['DELETE', '/api/me/mfa', ['code']],
  ['POST', '/api/me/identities/start', ['purpose', 'return', 'password', 'code']],
  ['POST', '/api/me/identities/finish', ['id']],
  ['DELETE', '/api/me/identities/99999999-9999-4999-8999-999999999999', ['password', 'code']],
  ['POST', '/api/me/passkeys/options', ['password', 'code']],
  ['DELETE', '/api/me/passkeys/99999999-9999-4999-8999-999999999999', ['password', 'code']],
  ['POST', '/api/me/passkeys/verify', ['name', 'credential']],
  ['PATCH', '/api/me/passkeys/99999999-9999-4999-8999-999999999999', ['name']],
  ['PUT', '/api/me/lock', ['passcode']],
  ['POST', '/api/sessions/unlock', ['passcode']],
] as const;

/** Text that breaks things: NUL, halves of surrogate pairs, control characters, markup, very long. */
export const nasty = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 80 }),
  fc.constantFrom(
    '\u0000',
    'a\u0000b',
    '\ud800',
    '\udfff\ud800',
    '__proto__',
    'constructor',
    '%00',
    "' or 1=1 --",
    '../../etc/passwd',
    '%',
    '\u202e',
    'agent:',
  ),
  fc.constant('x'.repeat(5_000)),
);
const numbers = fc.constantFrom(0, -0, -1, 1e308, -1e308, 2 ** 53, 1.5, 123456, Number.MIN_VALUE);
const encoded = fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes).toString('base64url'));
/** Mostly of the right form, so that it gets past the first check. */
const mostly = <T>(right: fc.Arbitrary<T>) =>
  fc.oneof<fc.WeightedArbitrary<unknown>[]>(
    { weight: 12, arbitrary: right },
    { weight: 1, arbitrary: nasty },
  );
const clientData = fc
  .record({
    type: fc.constantFrom('webauthn.get', 'webauthn.create', ''),
    challenge: mostly(encoded),
    origin: mostly(fc.constant('http://localhost:8080')),
  })
  .map((data) => Buffer.from(JSON.stringify(data)).toString('base64url'));
const credential = fc.record({
  id: mostly(encoded),
  rawId: mostly(encoded),
  type: mostly(fc.constant('public-key')),
  response: fc.record({
    clientDataJSON: mostly(fc.oneof(clientData, encoded)),
    attestationObject: mostly(encoded),
    authenticatorData: mostly(encoded),
    signature: mostly(encoded),
    userHandle: mostly(encoded),
    transports: fc.array(mostly(fc.constant('usb')), { maxLength: 3 }),
  }),
});
const value = fc.oneof(
  { weight: 4, arbitrary: nasty },
  { weight: 2, arbitrary: credential },
  { weight: 1, arbitrary: numbers },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

/** Objects with some of these fields, now and then with others, and what is no object. */
export const bodyOf = (fields: readonly string[]) =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record(Object.fromEntries(fields.map((field) => [field, value])), { requiredKeys: [] }),
    },
    { weight: 1, arbitrary: fc.dictionary(nasty, value, { maxKeys: 4 }) },
    { weight: 1, arbitrary: fc.jsonValue() },
  );

const request = fc.constantFrom(...ROUTES).chain((route) =>
  fc.record({
    route: fc.constant(route),
    payload: fc.oneof(
      { weight: 8, arbitrary: bodyOf(route[2]).map((body) => JSON.stringify(body) ?? '') },
      { weight: 1, arbitrary: nasty },
      { weight: 1, arbitrary: fc.constant('{"__proto__":{"username":"x"},"code":1e400}') },
    ),
    type: fc.oneof(
      { weight: 8, arbitrary: fc.constant('application/json') },
      { weight: 1, arbitrary: fc.constantFrom('application/json; charset=utf-8', 'text/plain', '') },
    ),
    ip: fc.ipV4(),
    agent: fc.constantFrom('browser', 'x'.repeat(2_000), 'a\tb', ''),
  }),
);

export type Target = {
  readonly service: Service;
  /** null for nobody. */
  readonly who: Person | null;
  readonly beforeEach: () => void;
  /** What a refused request must leave as it was. */
  readonly facts: () => string;
};

/** Throws hundreds of requests at the routes of sign-in, factors and the lock; answers how often each status came. */
export async function throwAt({ service, who, beforeEach, facts }: Target): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(request, async ({ route: [method, url], payload, type, agent, ip }) => {
      beforeEach();
      const before = facts();
      const answer = await service.http.inject({
        method,
        url,
        remoteAddress: ip,
        headers: {
          ...(who === null ? {} : { authorization: `Bearer ${who.token}` }),
          ...(type === '' ? {} : { 'content-type': type }),
          'user-agent': agent,
        },
        payload,
      });
      statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
      const what = `${method} ${url} ${type} ${payload} -> ${answer.statusCode} ${answer.body}`;
      if (answer.statusCode >= 500) throw new Error(what);
      if (answer.statusCode < 400) return;
      const { error, code } = answer.json();
      if (typeof error !== 'string' || typeof code !== 'string') throw new Error(what);
      if (facts() !== before) throw new Error(`changed: ${what}`);
    }),
    { numRuns: 600 },
  );
  return statuses;
}
