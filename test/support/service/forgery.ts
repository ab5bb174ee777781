import { createHmac, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';
import type { SigningKey } from '../../../src/adapters/http/auth/login-token.ts';
import { keysFrom } from '../../../src/app/main/keys/keys.ts';

export const keyOf = (fill: number): SigningKey => {
  const [key] = keysFrom(Buffer.alloc(48, fill)).live();
  if (key === undefined) throw new Error('no key');
  return key;
};
export const key = keyOf(7);
export const who = { userId: randomUUID(), sessionId: randomUUID() };

const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

type Hash = 'sha256' | 'sha384' | 'sha512';
const hmac = (input: string, secret: Buffer | string, hash: Hash = 'sha256'): string =>
  createHmac(hash, secret).update(input).digest('base64url');

export const now = (): number => Math.floor(Date.now() / 1000);
export const header = { alg: 'HS256', typ: 'at+jwt', kid: key.id };
export const claims = () => ({
  sub: who.userId,
  sid: who.sessionId,
  jti: randomUUID(),
  iss: 'berth',
  aud: 'berth-api',
  iat: now(),
  exp: now() + 900,
});

/** A token as somebody would make it who has the key. */
export function forged(
  head: unknown,
  payload: unknown,
  secret: Buffer | string = key.jwt,
  hash?: Hash,
): string {
  const input = `${part(head)}.${part(payload)}`;
  return `${input}.${hmac(input, secret, hash)}`;
}

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
const jwk = JSON.stringify(publicKey.export({ format: 'jwk' }));

function signedByRsa(): string {
  const input = `${part({ ...header, alg: 'RS256' })}.${part(claims())}`;
  return `${input}.${createSign('sha256').update(input).sign(privateKey, 'base64url')}`;
}

export const good = forged(header, claims());
const [goodHead, goodPayload, goodSignature = ''] = good.split('.');
const unsigned = (head: unknown): string => `${part(head)}.${part(claims())}.`;
const without = (name: string): object =>
  Object.fromEntries(Object.entries(claims()).filter(([one]) => one !== name));
const withHeader = (more: object): string => forged({ ...header, ...more }, claims());
export const withClaims = (more: object): string => forged(header, { ...claims(), ...more });

/** Every way that is known to confuse a verifier of tokens; none of them has anything to do with a session. */
export const REFUSED: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['one part', 'abc'],
  ['two parts', `${goodHead}.${goodPayload}`],
  ['an empty signature', `${goodHead}.${goodPayload}.`],
  ['only dots', '..'],
  ['a fourth part', `${good}.${goodSignature}`],
  ['an empty fourth part', `${good}.`],
  ['a truncated signature', good.slice(0, -1)],
  ['half a signature', good.slice(0, -20)],
  ['a longer signature', `${good}A`],
  [
    'another spelling of the same signature',
    good.slice(0, -1) + String.fromCharCode(good.charCodeAt(good.length - 1) + 1),
  ],
  ['padding', `${good}=`],
  ['a space', ` ${good}`],
  ['a line break', `${good}\n`],
  [
    'the signature of another text',
    `${goodHead}.${part({ ...claims(), sub: randomUUID() })}.${goodSignature}`,
  ],
  ['alg none', unsigned({ ...header, alg: 'none' })],
  ['alg None', unsigned({ ...header, alg: 'None' })],
  ['alg none with a signature', withHeader({ alg: 'none' })],
  ['no alg', forged({ typ: 'at+jwt', kid: key.id }, claims())],
  ['alg null', withHeader({ alg: null })],
  ['alg as an array', withHeader({ alg: ['HS256'] })],
  ['HS512 by the same key', forged({ ...header, alg: 'HS512' }, claims(), key.jwt, 'sha512')],
  ['HS384 by the same key', forged({ ...header, alg: 'HS384' }, claims(), key.jwt, 'sha384')],
  ['HS256 that says RS256', withHeader({ alg: 'RS256' })],
  ['a real RS256', signedByRsa()],
  ['HMAC by a public key as text (CVE-2023-48223)', forged(header, claims(), pem)],
  ['the same with leading space (CVE-2026-34950)', forged(header, claims(), ` \n${pem}`)],
  ['the same as the key in JSON (CVE-2026-107722)', forged(header, claims(), jwk)],
  ['HMAC by an empty key', forged(header, claims(), '')],
  ['unsigned, for a verifier without a key (CVE-2026-107720)', unsigned(header)],
  ['an array as payload (CVE-2026-107723)', forged(header, [claims()])],
  ['an array with the claims as members', forged(header, Object.assign([], claims()))],
  ['null as payload', forged(header, 'null')],
  ['text as payload', forged(header, '"berth"')],
  ['a number as payload', forged(header, '1')],
  ['broken JSON as payload', forged(header, '{')],
  ['an array as header', forged([header], claims())],
  ['null as header', forged('null', claims())],
  ['the key of another installation', forged(header, claims(), keyOf(9).jwt)],
  ['another kid', withHeader({ kid: keyOf(9).id })],
  ['no kid', forged({ alg: 'HS256', typ: 'at+jwt' }, claims())],
  ['a kid that is a path', withHeader({ kid: '../../../../dev/null' })],
  ['a kid that is a path, by an empty file', forged({ ...header, kid: '/dev/null' }, claims(), '')],
  ['a kid that is an address', withHeader({ kid: 'https://evil.example/key' })],
  ['a kid that is a query', withHeader({ kid: "x' union select 'k" })],
  ['a kid that is a property of all objects', withHeader({ kid: '__proto__' })],
  ['a kid that is a number', withHeader({ kid: 0 })],
  ['a kid that is an array', withHeader({ kid: [key.id] })],
  ['a key inside', withHeader({ jwk: { kty: 'oct', k: part('mine') } })],
  ['the address of a key', withHeader({ jku: 'https://evil.example/jwks.json' })],
  ['a certificate', withHeader({ x5c: ['MII'] })],
  ['an unknown crit', withHeader({ crit: ['exp2'], exp2: 1 })],
  ['a crit that names alg', withHeader({ crit: ['alg'] })],
  ['an empty crit', withHeader({ crit: [] })],
  ['a crit that is empty text', withHeader({ crit: '' })],
  ['a crit that is null', withHeader({ crit: null })],
  ['b64 off', withHeader({ b64: false, crit: ['b64'] })],
  ['no typ', forged({ alg: 'HS256', kid: key.id }, claims())],
  ['typ JWT', withHeader({ typ: 'JWT' })],
  ['typ of another case', withHeader({ typ: 'AT+JWT' })],
  ['typ with its prefix', withHeader({ typ: 'application/at+jwt' })],
  ['zip', withHeader({ zip: 'DEF' })],
  ['a header with a space', forged(JSON.stringify(header).replace(',', ', '), claims())],
  ['a header with alg twice', forged(`{"alg":"none",${JSON.stringify(header).slice(1)}`, claims())],
  ['expired', withClaims({ iat: now() - 901, exp: now() - 1 })],
  ['expired this second', withClaims({ iat: now() - 900, exp: now() })],
  ['not yet issued', withClaims({ iat: now() + 60, exp: now() + 900 })],
  ['not yet valid', withClaims({ nbf: now() + 60 })],
  ['a longer life than is given', withClaims({ exp: now() + 3600 })],
  ['no end', forged(header, without('exp'))],
  ['an end that is text', withClaims({ exp: `${now() + 900}` })],
  ['an end that is not whole', withClaims({ exp: now() + 899.5 })],
  ['an end that is an array', withClaims({ exp: [now() + 900] })],
  ['an end beyond all numbers', forged(header, JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e999'))],
  ['no start', forged(header, without('iat'))],
  ['a start that is text', withClaims({ iat: 'now' })],
  ['no id', forged(header, without('jti'))],
  ['no user', forged(header, without('sub'))],
  ['a user that is an object', withClaims({ sub: { toString: who.userId } })],
  ['a user that is no id', withClaims({ sub: 'admin' })],
  ['no session', forged(header, without('sid'))],
  ['a session that is an array', withClaims({ sid: [who.sessionId] })],
  ['another issuer', withClaims({ iss: 'berth2' })],
  ['no issuer', forged(header, without('iss'))],
  ['several issuers', withClaims({ iss: ['berth', 'evil'] })],
  ['another audience', withClaims({ aud: 'berth-agent' })],
  ['several audiences', withClaims({ aud: ['evil', 'berth-api'] })],
  ['no audience', forged(header, without('aud'))],
  ['a claim nobody knows', withClaims({ admin: true })],
  [
    'an own __proto__',
    forged(header, `${JSON.stringify(claims()).slice(0, -1)},"__proto__":{"admin":true}}`),
  ],
  ['a token above 2 KiB', withClaims({ note: 'x'.repeat(3000) })],
];
