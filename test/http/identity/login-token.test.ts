import { createHmac, createSign, generateKeyPairSync, randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import t from 'tap';
import { loginTokens, type SigningKey } from '../../../src/adapters/http/auth/login-token.ts';
import type { Http } from '../../../src/adapters/http/fastify-types.ts';
import { fixedClock, memoryStorage } from '../../../src/adapters/memory/index.ts';
import { type Keys, keysFrom } from '../../../src/app/main/keys/keys.ts';
import {
  again,
  anAdmin,
  aPerson,
  aService,
  as,
  type Person,
  refresh,
  statusOf,
} from '../../support/service/service.ts';

const keyOf = (fill: number): SigningKey => {
  const [key] = keysFrom(Buffer.alloc(48, fill)).live();
  if (key === undefined) throw new Error('no key');
  return key;
};
const key = keyOf(7);
const who = { userId: randomUUID(), sessionId: randomUUID() };

const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');

type Hash = 'sha256' | 'sha384' | 'sha512';
const hmac = (input: string, secret: Buffer | string, hash: Hash = 'sha256'): string =>
  createHmac(hash, secret).update(input).digest('base64url');

const now = (): number => Math.floor(Date.now() / 1000);
const header = { alg: 'HS256', typ: 'at+jwt', kid: key.id };
const claims = () => ({
  sub: who.userId,
  sid: who.sessionId,
  jti: randomUUID(),
  iss: 'berth',
  aud: 'berth-api',
  iat: now(),
  exp: now() + 900,
});

/** A token as made by somebody with the key. */
function forged(
  head: unknown,
  payload: unknown,
  secret: Buffer | string = key.loginTokenSecret,
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

const good = forged(header, claims());
const [goodHead, goodPayload, goodSignature = ''] = good.split('.');
const unsigned = (head: unknown): string => `${part(head)}.${part(claims())}.`;
const without = (name: string): object =>
  Object.fromEntries(Object.entries(claims()).filter(([one]) => one !== name));
const withHeader = (more: object): string => forged({ ...header, ...more }, claims());
const withClaims = (more: object): string => forged(header, { ...claims(), ...more });

/** Every known way to confuse a token verifier; sessions are not involved. */
const REFUSED: readonly (readonly [string, string])[] = [
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
  ['HS512 by the same key', forged({ ...header, alg: 'HS512' }, claims(), key.loginTokenSecret, 'sha512')],
  ['HS384 by the same key', forged({ ...header, alg: 'HS384' }, claims(), key.loginTokenSecret, 'sha384')],
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
  ['the key of another installation', forged(header, claims(), keyOf(9).loginTokenSecret)],
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

const tokensOf = (keys: () => readonly SigningKey[]) => loginTokens(Fastify() as unknown as Http, keys);

t.test('a token names user and session, for 15 minutes, and its key', async (t) => {
  const tokens = await tokensOf(() => [key]);
  const fromMs = Date.now();
  const { token, expiresAt } = tokens.sign(who);
  const signedMs = expiresAt.getTime() - 900_000;
  t.ok(signedMs > fromMs - 1_000 && signedMs <= Date.now(), 'in whole seconds');
  t.match(tokens.verify(token), who);
  t.match(tokens.verify(token), who, 'again');
  const [head, payload] = token.split('.').map((text) => Buffer.from(text, 'base64url').toString());
  t.same(JSON.parse(head ?? ''), header);
  t.match(JSON.parse(payload ?? ''), {
    iss: 'berth',
    aud: 'berth-api',
    sub: who.userId,
    sid: who.sessionId,
    jti: /^[0-9a-f-]{36}$/,
    exp: expiresAt.getTime() / 1000,
  });
  t.match(
    tokens.verify(forged(header, claims())),
    who,
    'what the tests below forge would pass if nothing were wrong',
  );
});

t.test('every malformed token is refused', async (t) => {
  const tokens = await tokensOf(() => [key]);
  t.match(tokens.verify(good), who);
  for (const what of ['at first', 'again']) {
    const believed = REFUSED.filter(([, token]) => tokens.verify(token) !== null);
    t.same(
      believed.map(([name]) => name),
      [],
      what,
    );
  }
  t.match(tokens.verify(good), who, 'and the good one is still good');
});

t.test('over HTTP all bad tokens are the same 401', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  t.equal((await as(service, ada)('GET', '/api/me')).statusCode, 200);
  const refused = [401, '{"error":"unauthorized","code":"unauthorized"}', 'Bearer error="invalid_token"'];
  for (const [name, token] of REFUSED.filter(([, one]) => /^[\x21-\x7e]+$/.test(one))) {
    const { statusCode, body, headers } = await as(service, { token })('GET', '/api/me');
    t.same([statusCode, body, headers['www-authenticate']], refused, name);
  }
});

t.test('a good signature of an unknown user, or of a foreign session, opens nothing', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  const eve = await aPerson(service, 'eve');
  const sessionOf = (token: string): string =>
    JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString()).sid;
  const cases = [
    withClaims({}),
    withClaims({ sub: ada.id }),
    withClaims({ sub: ada.id, sid: sessionOf(eve.token) }),
    withClaims({ sid: sessionOf(ada.token) }),
  ];
  for (const token of cases)
    t.equal((await as(service, { ...ada, token })('GET', '/api/me')).statusCode, 401);
  const right = withClaims({ sub: ada.id, sid: sessionOf(ada.token) });
  t.equal((await as(service, { ...ada, token: right })('GET', '/api/me')).statusCode, 200);
});

t.test('without a key, with an empty or with a short one nothing is signed and nothing starts', async (t) => {
  for (const keys of [
    [],
    [{ id: 'x', loginTokenSecret: Buffer.alloc(0) }],
    [{ id: 'x', loginTokenSecret: Buffer.alloc(31, 1) }],
  ]) {
    await t.rejects(
      tokensOf(() => keys),
      { message: /keys of at least 32 bytes/ },
    );
  }
  let keys: readonly SigningKey[] = [key];
  const tokens = await tokensOf(() => keys);
  const { token } = tokens.sign(who);
  keys = [{ id: 'x', loginTokenSecret: Buffer.alloc(0) }];
  t.throws(() => tokens.sign(who));
  t.throws(() => tokens.verify(token));
});

t.test('the current key signs, both verify, and a retired one is refused at once', async (t) => {
  const [old, fresh] = [keyOf(1), keyOf(2)];
  let keys: readonly SigningKey[] = [old];
  const tokens = await tokensOf(() => keys);
  const first = tokens.sign(who).token;
  t.match(tokens.verify(first), who);
  keys = [fresh, old];
  const second = tokens.sign(who).token;
  t.equal(JSON.parse(Buffer.from(second.split('.')[0] ?? '', 'base64url').toString()).kid, fresh.id);
  t.match([tokens.verify(first), tokens.verify(second)], [who, who]);
  t.equal(
    tokens.verify(forged({ ...header, kid: fresh.id }, claims(), old.loginTokenSecret)),
    null,
    'each key under its own name',
  );
  keys = [fresh];
  t.same([tokens.verify(first), tokens.verify(second)?.userId], [null, who.userId]);
});

t.test('a verified token is not cached beyond its expiry', async (t) => {
  // Another list would mean other keys, with an empty cache.
  const keys = [key];
  const tokens = await tokensOf(() => keys);
  const token = withClaims({ iat: now() - 898, exp: now() + 2 });
  t.match(tokens.verify(token), who);
  const { now: realNow } = Date;
  Date.now = () => realNow() + 2_500;
  const later = tokens.verify(token);
  Date.now = realNow;
  t.equal(later, null);
});

const [oldSecret, freshSecret] = [Buffer.alloc(48, 1), Buffer.alloc(48, 2)];

/** Processes of one installation: shared rows, separate keys. */
function anInstallation() {
  const clock = fixedClock();
  const storage = memoryStorage(clock);
  return (keys: Keys) => aService({ storage, clock }, { keys });
}

t.test('rolling restarts rotate keys without a refused request', async (t) => {
  const replica = anInstallation();
  const first = await replica(keysFrom(oldSecret));
  const running = [first, await replica(keysFrom(oldSecret))];
  const root = await anAdmin(first);
  const tokens: Person[] = [root];

  /** Signs in everywhere, and presents every token to every process. */
  async function askEverybody(step: string): Promise<void> {
    for (const one of running) tokens.push(await again(one, root, 'root'));
    const asked = running.flatMap((one) => tokens.map((token) => statusOf(one, token)));
    t.same(new Set(await Promise.all(asked)), new Set([200]), step);
  }

  await askEverybody('before');
  for (const [what, ...secrets] of [
    ['the new key verifies', oldSecret, freshSecret],
    ['the new key signs', freshSecret, oldSecret],
  ] as const)
    for (const at of running.keys()) {
      running[at] = await replica(keysFrom(...secrets));
      await askEverybody(`process ${at}: ${what}`);
    }
  // A quarter of an hour later the tokens of the old key have expired.
  tokens.splice(0, tokens.length - 1);
  for (const at of running.keys()) {
    running[at] = await replica(keysFrom(freshSecret));
    await askEverybody(`process ${at}: the old key is gone`);
  }
  for (const one of running) t.equal(await statusOf(one, root), 401, 'and so are its tokens');
});

t.test('a refresh with a lost answer finds its successor while its key is live', async (t) => {
  const replica = anInstallation();
  const before = await replica(keysFrom(oldSecret));
  const root = await anAdmin(before);
  const successor = (await refresh(before, root)).cookies[0]?.value ?? '';
  const without = await replica(keysFrom(freshSecret));
  t.equal((await refresh(without, root)).statusCode, 401, 'whose key is gone');
  const repeated = await refresh(await replica(keysFrom(freshSecret, oldSecret)), root);
  t.equal(repeated.statusCode, 200);
  t.equal(repeated.cookies[0]?.value, successor);
  t.equal((await refresh(without, { cookie: successor })).statusCode, 200, 'the session lives all the time');
});
