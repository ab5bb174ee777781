import Fastify from 'fastify';
import t from 'tap';
import { loginTokens, type SigningKey } from '../../../src/adapters/http/auth/login-token.ts';
import type { Http } from '../../../src/adapters/http/fastify-types.ts';
import { fixedClock, memoryStorage } from '../../../src/adapters/memory/index.ts';
import { type Keys, keysFrom } from '../../../src/app/main/keys/keys.ts';
import {
  claims,
  forged,
  good,
  header,
  key,
  keyOf,
  now,
  REFUSED,
  who,
  withClaims,
} from '../../support/service/forgery.ts';
import { anAdmin, aPerson, aService, as, type Person } from '../../support/service/service.ts';
import { again, refresh, statusOf } from '../../support/service/sign-ins.ts';

const tokensOf = (keys: () => readonly SigningKey[]) => loginTokens(Fastify() as unknown as Http, keys);

t.test('a token says who and which session, for 15 minutes, and names its key', async (t) => {
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

t.test('whatever is wrong with a token, it is refused', async (t) => {
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

t.test('over HTTP all of them are the same 401', async (t) => {
  const service = await aService();
  const ada = await aPerson(service, 'ada');
  t.equal((await as(service, ada)('GET', '/api/me')).statusCode, 200);
  const refused = [401, '{"error":"unauthorized","code":"unauthorized"}', 'Bearer error="invalid_token"'];
  for (const [name, token] of REFUSED.filter(([, one]) => /^[\x21-\x7e]+$/.test(one))) {
    const { statusCode, body, headers } = await as(service, { token })('GET', '/api/me');
    t.same([statusCode, body, headers['www-authenticate']], refused, name);
  }
});

t.test("a good signature of nobody, or of a session that is not the user's, opens nothing", async (t) => {
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
  for (const keys of [[], [{ id: 'x', jwt: Buffer.alloc(0) }], [{ id: 'x', jwt: Buffer.alloc(31, 1) }]]) {
    await t.rejects(
      tokensOf(() => keys),
      { message: /keys of at least 32 bytes/ },
    );
  }
  let keys: readonly SigningKey[] = [key];
  const tokens = await tokensOf(() => keys);
  const { token } = tokens.sign(who);
  keys = [{ id: 'x', jwt: Buffer.alloc(0) }];
  t.throws(() => tokens.sign(who));
  t.throws(() => tokens.verify(token));
});

t.test('the current key signs, both verify, and a retired one is out at once', async (t) => {
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
    tokens.verify(forged({ ...header, kid: fresh.id }, claims(), old.jwt)),
    null,
    'each key under its own name',
  );
  keys = [fresh];
  t.same([tokens.verify(first), tokens.verify(second)?.userId], [null, who.userId]);
});

t.test('a token that verified is not remembered beyond its end', async (t) => {
  // Another list would stand for other keys, with which nothing is remembered.
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

/** Processes of one installation: the same rows, keys of their own. */
function anInstallation() {
  const clock = fixedClock();
  const storage = memoryStorage(clock);
  return (keys: Keys) => aService({ storage, clock }, { keys });
}

t.test('keys are rotated by rolling restarts without one refused request', async (t) => {
  const replica = anInstallation();
  const first = await replica(keysFrom(oldSecret));
  const running = [first, await replica(keysFrom(oldSecret))];
  const root = await anAdmin(first);
  const tokens: Person[] = [root];

  /** Signs in everywhere, and shows every token to every process. */
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

t.test('a refresh whose answer was lost finds its successor while its key is there', async (t) => {
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
