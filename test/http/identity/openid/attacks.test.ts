import t, { type Test } from 'tap';
import { safeReturnPath } from '../../../../src/domain/identity/openid/provider-sign-in.ts';
import type { Forgery } from '../../../support/openid/scripted-provider.ts';
import {
  type Answer,
  aProviderScene,
  atProvider,
  begin,
  COOKIE,
  callback,
  cookieOf,
  finish,
  outcomeOf,
  type ProviderScene,
  signInBy,
} from '../../../support/openid/sign-in.ts';
import { aPerson, as, auditOf, ORIGIN, person, stateOf } from '../../../support/service/service.ts';

const EVE = { sub: 'eve', email: 'eve@example.org', email_verified: true };
const OPEN = { oidcCreateAccounts: true, oidcMatchByEmail: true };

/** Nobody is let in, nothing is made, and the audit has the reason. */
async function refused(t: Test, { service }: ProviderScene, code: string, answer?: Answer): Promise<void> {
  if (answer !== undefined) t.match(outcomeOf(answer), { refused: code });
  t.match(auditOf(service, 'login_failed').at(-1), { details: code, userId: null });
  t.equal(auditOf(service, 'login').length, 0);
  t.equal(auditOf(service, 'identity_linked').length, 0);
  t.equal(stateOf(service).identities.length, 0);
}

t.test('an answer needs the state of a sign-in that began in this browser, and works once', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const { provider } = scene;
  const one = await begin(scene);
  const two = await begin(scene);
  t.not(one.cookie, two.cookie);

  const missing = provider.authorize(one.url, EVE);
  missing.searchParams.delete('state');
  await refused(t, scene, 'provider_sign_in_expired', await callback(scene, missing, one.cookie));
  const wrong = provider.authorize(one.url, EVE);
  wrong.searchParams.set('state', 'x'.repeat(43));
  await refused(t, scene, 'provider_sign_in_expired', await callback(scene, wrong, one.cookie));
  const elsewhere = provider.authorize(one.url, EVE);
  await refused(t, scene, 'provider_sign_in_expired', await callback(scene, elsewhere, two.cookie));
  await refused(t, scene, 'provider_sign_in_expired', await callback(scene, elsewhere, null));
  await refused(t, scene, 'provider_sign_in_expired', await callback(scene, elsewhere, one.cookie));

  const good = provider.authorize(two.url, EVE);
  const { arrived = '' } = outcomeOf(await callback(scene, good, two.cookie));
  const replayed = await callback(scene, good, two.cookie);
  await refused(t, scene, 'provider_sign_in_expired', replayed);
  for (const cookie of [null, one.cookie, `${two.cookie}x`]) {
    t.equal((await finish(scene, arrived, cookie)).json().code, 'provider_sign_in_expired');
  }
  const planted = { cookie: `berth_provider=${one.cookie}; berth_provider=${two.cookie}` };
  t.equal((await finish(scene, arrived, null, planted)).statusCode, 400, 'not with two cookies');
  const other = await finish(scene, arrived, two.cookie, { origin: 'https://evil.example.org' });
  t.equal(other.json().code, 'origin_not_allowed');
  t.equal((await finish(scene, arrived, two.cookie, { origin: ORIGIN })).statusCode, 200);
});

t.test('a sign-in expires', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const { url, cookie } = await begin(scene);
  const late = await begin(scene);
  const { arrived = '' } = outcomeOf(await callback(scene, scene.provider.authorize(url, EVE), cookie));
  scene.service.clock.advance(10 * 60_000);
  const answer = await callback(scene, scene.provider.authorize(late.url, EVE), late.cookie);
  await refused(t, scene, 'provider_sign_in_expired', answer);
  t.equal((await finish(scene, arrived, cookie)).json().code, 'provider_sign_in_expired');
});

const FORGERIES: Readonly<Record<string, Forgery>> = {
  'another nonce': { claims: { nonce: 'another' } },
  'no nonce': { without: ['nonce'] },
  'another issuer': { claims: { iss: 'https://evil.example.org' } },
  'another audience': { claims: { aud: 'another client' } },
  'several audiences and another party': { claims: { aud: ['berth', 'another'], azp: 'another' } },
  'no expiry': { without: ['exp'] },
  'an expiry in the past': { claims: { iat: 1_700_000_000, exp: 1_700_000_300 } },
  'no subject': { without: ['sub'] },
  'no signature': { key: 'none' },
  'a foreign key': { key: 'foreign' },
};

for (const [name, forgery] of Object.entries(FORGERIES)) {
  t.test(`an ID token with ${name} is refused`, async (t) => {
    const scene = await aProviderScene(t, OPEN);
    t.equal((await signInBy(scene, EVE, forgery)).refused, 'provider_rejected');
    await refused(t, scene, 'provider_rejected');
  });
}

t.test('a code works once, and an answer names its issuer', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const { provider } = scene;
  const first = await begin(scene);
  const mixedUp = provider.authorize(first.url, EVE);
  mixedUp.searchParams.set('iss', 'https://evil.example.org');
  await refused(t, scene, 'provider_rejected', await callback(scene, mixedUp, first.cookie));
  const second = await begin(scene);
  const unnamed = provider.authorize(second.url, EVE);
  unnamed.searchParams.delete('iss');
  await refused(t, scene, 'provider_rejected', await callback(scene, unnamed, second.cookie));

  const third = await begin(scene);
  const used = provider.authorize(third.url, EVE);
  await callback(scene, used, third.cookie);
  const fourth = await begin(scene);
  const stolen = provider.authorize(fourth.url, EVE);
  stolen.searchParams.set('code', used.searchParams.get('code') ?? '');
  await refused(t, scene, 'provider_rejected', await callback(scene, stolen, fourth.cookie));
  const fifth = await begin(scene);
  const injected = provider.authorize(fifth.url, EVE);
  const sixth = await begin(scene);
  const victim = provider.authorize(sixth.url, EVE);
  victim.searchParams.set('code', injected.searchParams.get('code') ?? '');
  // PKCE: the code was made for another sign-in.
  await refused(t, scene, 'provider_rejected', await callback(scene, victim, sixth.cookie));
});

t.test('a refusal of the provider is shown as one', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const { url, cookie } = await begin(scene);
  const back = scene.provider.authorize(url, EVE);
  back.searchParams.delete('code');
  back.searchParams.set('error', 'access_denied');
  await refused(t, scene, 'provider_denied', await callback(scene, back, cookie));
});

const passwordOf = ({ service }: ProviderScene, { email, password }: ReturnType<typeof person>) =>
  as(service, null)('POST', '/api/auth/login', { email, password });

t.test('bad answers are limited, and never shut passwords out', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  await aPerson(scene.service, 'ada');
  const back = new URL('http://127.0.0.1:8080/api/auth/oidc/callback?state=x&code=y');
  let last = '';
  for (let tries = 0; tries < 25; tries += 1) {
    last = outcomeOf(await callback(scene, back, null))['refused'] ?? '';
  }
  t.equal(last, 'rate_limited');
  t.equal(auditOf(scene.service, 'login_failed').length, 20);
  t.equal((await passwordOf(scene, person('ada'))).statusCode, 200);
});

t.test('a provider that is down, or refuses, shuts nobody out', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  await aPerson(scene.service, 'ada');
  scene.provider.break('/token');
  for (let tries = 0; tries < 21; tries += 1) {
    t.equal((await signInBy(scene, EVE)).refused, 'provider_unavailable');
  }
  for (let tries = 0; tries < 21; tries += 1) {
    const { url, cookie } = await begin(scene);
    const back = scene.provider.authorize(url, EVE);
    back.searchParams.delete('code');
    back.searchParams.set('error', 'access_denied');
    t.equal(outcomeOf(await callback(scene, back, cookie))['refused'], 'provider_denied');
  }
  t.equal((await passwordOf(scene, person('ada'))).statusCode, 200);
});

t.test('a reassigned address opens nothing that is in use', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  t.equal((await signInBy(scene, EVE)).refused, null);
  const next = await signInBy(scene, { ...EVE, sub: 'another person' });
  t.equal(next.refused, 'provider_account_exists');
  t.equal(auditOf(scene.service, 'identity_linked').length, 1);
  t.equal((await signInBy(scene, EVE)).refused, null, 'the first one still may');
});

t.test('whoever registered the address first does not share an account with its owner', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  await aPerson(scene.service, 'eve');
  t.equal((await signInBy(scene, EVE)).refused, 'provider_account_exists');
  t.equal(auditOf(scene.service, 'identity_linked').length, 0);
});

t.test('an address and its verification come from one statement', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const { service } = scene;
  const elsewhere = { email: 'eve@evil.example.org', email_verified: true };
  const { email_verified: _, ...unstated } = EVE;
  t.equal(
    (await signInBy(scene, unstated, { userinfo: { email_verified: true } })).refused,
    'provider_email_unverified',
  );
  const other = await signInBy(scene, unstated, { userinfo: elsewhere });
  t.equal(other.answer.json().user.email, elsewhere.email);
  const { email: __, ...unnamed } = { ...EVE, sub: 'mallory' };
  const victim = { email: 'victim@example.org' };
  t.equal((await signInBy(scene, unnamed, { userinfo: victim })).refused, 'provider_email_unverified');
  t.equal(auditOf(service, 'identity_linked').length, 1);
});

t.test('a linked person is never taken over by another session or another purpose', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const { service, provider } = scene;
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  const started = await as(service, ada)('POST', '/api/me/identities/start', { purpose: 'link' });
  const cookie = cookieOf(started);
  const back = provider.authorize(started.json().url, EVE);
  const { arrived: id = '' } = outcomeOf(await callback(scene, back, cookie));
  const byBob = as(service, bob)(
    'POST',
    '/api/me/identities/finish',
    { id },
    { cookie: `berth_provider=${cookie}` },
  );
  t.equal((await byBob).json().code, 'provider_sign_in_expired', 'another session');
  const again = await as(service, ada)('POST', '/api/me/identities/start', { purpose: 'link' });
  const secret = cookieOf(again);
  const next = outcomeOf(await callback(scene, provider.authorize(again.json().url, EVE), secret));
  const asSignIn = await finish(scene, next['arrived'] ?? '', secret);
  t.equal(asSignIn.json().code, 'provider_sign_in_expired', 'it opens no session');
  t.equal(auditOf(service, 'identity_linked').length, 0);
});

t.test('an answer that was refused does not work later', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const { service, provider } = scene;
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  t.equal((await atProvider(scene, 'link', EVE, bob)).statusCode, 200);
  const started = await as(service, ada)('POST', '/api/me/identities/start', { purpose: 'link' });
  const cookie = cookieOf(started);
  const { arrived: id } = outcomeOf(
    await callback(scene, provider.authorize(started.json().url, EVE), cookie),
  );
  const link = async () =>
    (
      await as(service, ada)('POST', '/api/me/identities/finish', { id }, { cookie: `${COOKIE}=${cookie}` })
    ).json().code;
  t.equal(await link(), 'identity_taken');
  const [{ id: connected }] = (await as(service, bob)('GET', '/api/me/identities')).json().identities;
  t.equal((await as(service, bob)('DELETE', `/api/me/identities/${connected}`)).statusCode, 200);
  t.equal(await link(), 'provider_sign_in_expired', 'though nobody has it any more');

  const { identities } = service.ports.storage.repositories;
  const { insert } = identities;
  const entry = await begin(scene);
  const there = outcomeOf(await callback(scene, provider.authorize(entry.url, EVE), entry.cookie));
  const open = () => finish(scene, there['arrived'] ?? '', entry.cookie);
  // Another request connects the person first.
  Object.assign(identities, { insert: async () => null });
  t.equal((await open()).json().code, 'provider_sign_in_expired');
  t.match(auditOf(service, 'login_failed').at(-1), { details: 'provider_sign_in_expired' });
  const failures = auditOf(service, 'login_failed').length;
  Object.assign(identities, { insert });
  t.equal((await open()).json().code, 'provider_sign_in_expired', 'nor when it would be let in');
  t.equal(auditOf(service, 'login_failed').length, failures + 1);
});

t.test('after a sign-in the page stays on this origin', async (t) => {
  const paths: Readonly<Record<string, string>> = {
    '/containers/1?tab=2#x': '/containers/1?tab=2#x',
    '//evil.example.org': '/',
    '/\\evil.example.org': '/',
    '/\t/evil.example.org': '/',
    'https://evil.example.org': '/',
    'javascript:alert(1)': '/',
    'evil.example.org': '/',
    '': '/',
    [`/${'x'.repeat(600)}`]: '/',
  };
  for (const [wanted, path] of Object.entries(paths)) t.equal(safeReturnPath(wanted), path, wanted);
  const scene = await aProviderScene(t, OPEN);
  const { url, cookie } = await begin(scene, '//evil.example.org/x');
  const arrived = await callback(scene, scene.provider.authorize(url, EVE), cookie);
  t.equal(outcomeOf(arrived)['return'], '/');
});

t.test('the addresses that browsers open answer by a redirect, whatever their query', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const open = (url: string) => scene.service.http.inject({ method: 'GET', url: `/api/auth/oidc/${url}` });
  for (const query of [
    `return=/${'x'.repeat(600)}`,
    'return=/a&return=/b',
    'return=%00',
    'return=%',
    'other=1',
  ]) {
    const started = await open(`start?${query}`);
    t.match(started.headers.location, scene.provider.issuer, query.slice(0, 20));
    t.equal(started.statusCode, 303);
  }
  const long = await begin(scene, `/${'x'.repeat(600)}`);
  const back = scene.provider.authorize(long.url, EVE);
  t.equal(outcomeOf(await callback(scene, back, long.cookie))['return'], '/');
  for (const query of ['state=a&state=b', `state=${'x'.repeat(9000)}`, 'state=%', 'error=a&error=b', '']) {
    const shown = outcomeOf(await open(`callback?${query}`));
    t.same(shown, { refused: 'provider_sign_in_expired' }, query.slice(0, 20));
  }
  const twice = await begin(scene);
  const doubled = scene.provider.authorize(twice.url, EVE);
  doubled.searchParams.append('state', 'another');
  await refused(t, scene, 'provider_rejected', await callback(scene, doubled, twice.cookie));
});
