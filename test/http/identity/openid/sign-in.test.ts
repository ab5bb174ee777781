import t from 'tap';
import { openIdProvider } from '../../../../src/adapters/security/openid/openid-provider.ts';
import { CLIENT } from '../../../support/openid/scripted-provider.ts';
import {
  aProviderScene,
  atProvider,
  begin,
  callback,
  finish,
  outcomeOf,
  type ProviderScene,
  signInBy,
} from '../../../support/openid/sign-in.ts';
import { codeAt, STEP_MS } from '../../../support/service/factors.ts';
import {
  aGuest,
  anAdmin,
  aPerson,
  aService,
  as,
  auditOf,
  type Bearer,
  refresh,
  stateOf,
  statusOf,
} from '../../../support/service/service.ts';

const ADA = {
  sub: 'ada-at-provider',
  email: 'ada@example.org',
  email_verified: true,
  preferred_username: 'ada',
};
const LATER_MS = 16 * 60_000;

const usersOf = ({ service }: ProviderScene) => service.ports.storage.repositories.users;
const identitiesOf = async (scene: ProviderScene, who: Bearer) =>
  (await as(scene.service, who)('GET', '/api/me/identities')).json().identities;

t.test('the button leads to the provider with PKCE, state and nonce, and back into a session', async (t) => {
  const scene = await aProviderScene(t, { oidcCreateAccounts: true, oidcTier: 'pro' });
  const { service, provider } = scene;
  const options = (await as(service, null)('GET', '/api/auth/options')).json();
  t.match(options, { provider: 'Example' });
  const { url, cookie, answer } = await begin(scene, '/containers?x=1');
  t.equal(answer.statusCode, 303);
  const asked = new URL(url);
  t.equal(asked.origin, provider.issuer);
  t.match(Object.fromEntries(asked.searchParams), {
    response_type: 'code',
    code_challenge_method: 'S256',
    code_challenge: /^[\w-]{43}$/,
    state: /^[\w-]{43}$/,
    nonce: /^[\w-]{43}$/,
    scope: 'openid profile email',
    redirect_uri: 'http://127.0.0.1:8080/api/auth/oidc/callback',
  });
  t.match(answer.headers['set-cookie'], /HttpOnly.*SameSite=Lax/);
  const arrived = await callback(scene, provider.authorize(url, ADA), cookie);
  t.equal(arrived.statusCode, 303);
  t.match(arrived.headers.location, /^\/sign-in\/provider#/);
  const { arrived: id = '', ...outcome } = outcomeOf(arrived);
  t.same(outcome, { purpose: 'sign_in', return: '/containers?x=1' });
  t.equal(auditOf(service, 'login').length, 0, 'nothing is open before the last step');

  const done = await finish(scene, id, cookie);
  t.equal(done.statusCode, 200);
  t.match(done.json(), { user: { username: 'ada', email: 'ada@example.org', role: 'user', tier: 'pro' } });
  const refreshCookie = done.cookies.find(({ name }) => name === 'berth_refresh');
  t.match(refreshCookie, { httpOnly: true, sameSite: 'Strict', path: '/api/auth' });
  t.equal((await refresh(service, { cookie: refreshCookie?.value ?? '' })).statusCode, 200);
  t.match(auditOf(service, 'identity_linked'), [{ details: /"by":"first_sign_in"/ }]);
  t.equal((await finish(scene, id, cookie)).json().code, 'provider_sign_in_expired', 'once');
});

t.test('issuer and subject alone recognize an account', async (t) => {
  const scene = await aProviderScene(t, { oidcCreateAccounts: true, oidcMatchByEmail: true });
  const first = await signInBy(scene, ADA);
  const moved = await signInBy(scene, { ...ADA, email: 'lovelace@example.org', email_verified: false });
  t.equal(moved.answer.json().user.id, first.answer.json().user.id, 'the address does not matter any more');
  const [identity] = await identitiesOf(scene, { token: moved.answer.json().token });
  t.match(identity, { email: 'lovelace@example.org', last_used_at: String });
  const other = await signInBy(scene, {
    ...ADA,
    sub: 'somebody-else',
    email: 'new@example.org',
    preferred_username: 'eve',
  });
  t.not(other.answer.json().user.id, first.answer.json().user.id);
});

t.test('a username that is taken or does not fit is chosen, and only that of a new account', async (t) => {
  const scene = await aProviderScene(t, { oidcCreateAccounts: true });
  await aPerson(scene.service, 'ada');
  await aPerson(scene.service, 'Ada-2');
  const there = { ...ADA, email: 'countess@example.org' };
  const { url, cookie } = await begin(scene);
  const { arrived = '' } = outcomeOf(await callback(scene, scene.provider.authorize(url, there), cookie));
  const asked = await finish(scene, arrived, cookie);
  t.equal(asked.statusCode, 409);
  t.match(asked.json(), { code: 'provider_username_needed', suggestion: 'ada-3' });
  for (const [username, words] of [
    ['ADA', 'is already in use'],
    ['a b', /must be/],
  ] as const)
    t.match((await finish(scene, arrived, cookie, {}, { username })).json(), { fields: { username: words } });
  t.equal(
    (await finish(scene, arrived, 'x'.repeat(43), {}, { username: 'countess' })).json().code,
    'provider_sign_in_expired',
    'in its browser alone',
  );
  t.match((await finish(scene, arrived, cookie, {}, { username: 'countess' })).json(), {
    user: { username: 'countess', email: 'countess@example.org' },
  });
  t.equal((await finish(scene, arrived, cookie)).json().code, 'provider_sign_in_expired', 'once');

  const back = await begin(scene);
  const again = outcomeOf(await callback(scene, scene.provider.authorize(back.url, there), back.cookie));
  const known = await finish(scene, again['arrived'] ?? '', back.cookie, {}, { username: 'other' });
  t.equal(known.json().user.username, 'countess', 'nobody is renamed');

  const unfit = await signInBy(scene, {
    ...ADA,
    sub: 'li',
    email: 'li@example.org',
    preferred_username: '李',
  });
  t.match(unfit.answer.json(), { code: 'provider_username_needed', suggestion: null });
});

t.test('names cannot be tried without end', async (t) => {
  const scene = await aProviderScene(t, { oidcCreateAccounts: true });
  await aPerson(scene.service, 'ada');
  const there = { ...ADA, email: 'countess@example.org' };
  const { url, cookie } = await begin(scene);
  const { arrived = '' } = outcomeOf(await callback(scene, scene.provider.authorize(url, there), cookie));
  const tried = [];
  for (let count = 0; count < 21; count += 1)
    tried.push((await finish(scene, arrived, cookie, {}, { username: 'ada' })).json().code);
  t.same(new Set(tried.slice(0, 20)), new Set(['validation_failed']));
  t.equal(tried.at(-1), 'rate_limited');

  scene.service.clock.advance(LATER_MS);
  const back = await begin(scene);
  const again = outcomeOf(await callback(scene, scene.provider.authorize(back.url, there), back.cookie));
  const asked = [];
  for (let count = 0; count < 21; count += 1)
    asked.push((await finish(scene, again['arrived'] ?? '', back.cookie)).json().code);
  t.same(new Set(asked.slice(0, 20)), new Set(['provider_username_needed']));
  t.equal(asked.at(-1), 'rate_limited', 'nor those that the provider says');
});

t.test('a verified address opens an existing account only where administrators allow it', async (t) => {
  const scene = await aProviderScene(t);
  const root = as(scene.service, await anAdmin(scene.service));
  const created = await root('POST', '/api/admin/users', { username: 'ada', email: ADA.email });
  const { user: ada, link } = created.json();
  t.equal((await signInBy(scene, ADA)).refused, 'provider_no_account');
  const { settings } = scene.service.ports.storage.repositories;
  await settings.change({ oidcCreateAccounts: true });
  t.equal((await signInBy(scene, ADA)).refused, 'provider_account_exists');
  await settings.change({ oidcMatchByEmail: true });
  const unverified = { ...ADA, email_verified: false };
  t.equal((await signInBy(scene, unverified)).refused, 'provider_email_unverified');
  t.equal(auditOf(scene.service, 'identity_linked').length, 0);
  const opened = await signInBy(scene, { ...ADA, email: 'ADA@example.org' });
  t.equal(opened.answer.json().user.id, ada.id);
  t.match(auditOf(scene.service, 'identity_linked'), [{ details: /"by":"address"/ }]);
  const code = link.url.split('#code=')[1];
  const late = await as(scene.service, null)('POST', '/api/auth/resets/use', {
    code,
    password: 'a first password',
  });
  t.equal(late.json().code, 'link_not_valid', 'nobody else gets in by the first link');
});

t.test('a sign-in without a question at the provider is not a recent one', async (t) => {
  const scene = await aProviderScene(t, { oidcCreateAccounts: true });
  const { service } = scene;
  await signInBy(scene, ADA);
  const first = { new_password: 'a first password' };
  const hoursAgo = service.clock.now().getTime() / 1000 - 7200;
  for (const age of [{ claims: { auth_time: hoursAgo } }, { without: ['auth_time'] }]) {
    const by = as(service, (await signInBy(scene, ADA, age)).answer.json());
    t.equal((await by('POST', '/api/me/password', first)).json().code, 'confirmation_required');
    await by('POST', '/api/me/mfa');
    const confirmed = await by('POST', '/api/me/mfa/confirm', { code: '000000' });
    t.equal(confirmed.json().code, 'confirmation_required');
  }
});

t.test('a provider that asks nothing does not get around the screen lock', async (t) => {
  const scene = await aProviderScene(t, { oidcCreateAccounts: true });
  const { service } = scene;
  const passcode = { passcode: '1234' };
  const by = as(service, (await signInBy(scene, ADA)).answer.json());
  t.equal((await by('PUT', '/api/me/lock', passcode)).statusCode, 200);
  const silently = { claims: { auth_time: service.clock.now().getTime() / 1000 - 7200 } };
  const again = as(service, (await signInBy(scene, ADA, silently)).answer.json());
  t.equal((await again('GET', '/api/sessions')).json().code, 'session_locked');
  t.equal((await again('POST', '/api/sessions/unlock', passcode)).statusCode, 200);
  t.equal((await again('GET', '/api/sessions')).statusCode, 200);
  const asked = as(service, (await signInBy(scene, ADA)).answer.json());
  t.equal((await asked('GET', '/api/sessions')).statusCode, 200, 'who signed in just now is not asked again');
});

t.test('an administrator is connected from the settings alone', async (t) => {
  const scene = await aProviderScene(t, { oidcMatchByEmail: true, oidcCreateAccounts: true });
  const root = await anAdmin(scene.service);
  const atIt = { ...ADA, email: 'root@example.org' };
  t.equal((await signInBy(scene, atIt)).refused, 'provider_account_exists');
  t.match(auditOf(scene.service, 'login_failed'), [{ details: 'provider_account_exists' }]);
  t.equal((await atProvider(scene, 'link', atIt, root)).statusCode, 200);
  t.equal((await signInBy(scene, atIt)).answer.json().user.id, root.id);
});

t.test('a disabled account stays closed, and its reason is shown', async (t) => {
  const scene = await aProviderScene(t, { oidcCreateAccounts: true });
  const { id } = (await signInBy(scene, ADA)).answer.json().user;
  await usersOf(scene).change(id, { disabled: true, disabledReason: 'left the company' });
  const { answer } = await signInBy(scene, ADA);
  t.equal(answer.statusCode, 403);
  t.match(answer.json(), { code: 'account_disabled', reason: 'left the company' });
  t.match(auditOf(scene.service, 'login_failed'), [{ userId: id, details: 'disabled' }]);
});

t.test('the second factor is asked for after the provider, too', async (t) => {
  const scene = await aProviderScene(t, { oidcCreateAccounts: true });
  const { service, provider } = scene;
  const { token } = (await signInBy(scene, { ...ADA, sid: 'one' })).answer.json();
  const by = as(service, { token });
  const { secret } = (await by('POST', '/api/me/mfa')).json();
  const enrolled = await by('POST', '/api/me/mfa/confirm', { code: codeAt(secret, service.clock.now()) });
  t.equal(enrolled.statusCode, 200);
  const half = (await signInBy(scene, { ...ADA, sid: 'two' })).answer.json();
  t.match(half, { mfa_required: true, mfa_token: String });
  service.clock.advance(STEP_MS);
  const code = codeAt(secret, service.clock.now());
  const full = await as(service, null)('POST', '/api/auth/mfa', { mfa_token: half.mfa_token, code });
  t.equal(full.statusCode, 200);
  const left = (await as(service, full.json())('POST', '/api/auth/logout')).json();
  t.match(left.provider_sign_out_url, new RegExp(`^${provider.issuer}/end`), 'its session is the provider’s');
});

t.test('an account without a password confirms at the provider, and sets a first password', async (t) => {
  const scene = await aProviderScene(t, { oidcCreateAccounts: true });
  const { service } = scene;
  const who = (await signInBy(scene, ADA)).answer.json() as Bearer;
  const by = as(service, who);
  t.match((await by('GET', '/api/me')).json(), { password_set: false });
  const [{ id }] = await identitiesOf(scene, who);
  t.equal((await by('DELETE', `/api/me/identities/${id}`)).json().code, 'identity_needed');
  service.clock.advance(LATER_MS);
  const fresh = async () => (await signInBy(scene, ADA)).answer.json() as Bearer;
  const old = await fresh();
  service.clock.advance(LATER_MS);
  const asOld = as(service, old);
  const first = { new_password: 'a first password' };
  t.match((await asOld('POST', '/api/me/password', first)).json(), {
    code: 'confirmation_required',
    fields: { provider: String },
  });
  const stale = { ...ADA, auth_time: Date.parse('2025-12-31') / 1000 };
  t.equal((await atProvider(scene, 'confirm', stale, old)).json().code, 'provider_rejected');
  const timeless = await atProvider(scene, 'confirm', ADA, old, {}, { without: ['auth_time'] });
  t.equal(timeless.json().code, 'provider_time_missing');
  const foreign = { ...ADA, sub: 'somebody-else' };
  t.equal((await atProvider(scene, 'confirm', foreign, old)).json().code, 'provider_other_person');
  t.equal(auditOf(service, 'confirmation_failed').length, 3);
  t.equal((await asOld('POST', '/api/me/password', first)).statusCode, 403, 'still');
  t.same((await atProvider(scene, 'confirm', ADA, old)).json(), { purpose: 'confirm', identity: null });
  t.equal((await asOld('POST', '/api/me/password', first)).statusCode, 200);
  t.match((await asOld('GET', '/api/me')).json(), { password_set: true });
  const signedIn = await as(service, null)('POST', '/api/auth/login', {
    email: 'ada',
    password: first.new_password,
  });
  t.equal(signedIn.statusCode, 200);
  const missing = await asOld('POST', '/api/me/password', { new_password: 'another password' });
  t.match(missing.json(), { code: 'validation_failed', fields: { old_password: 'is required' } });
  t.equal((await asOld('DELETE', `/api/me/identities/${id}`)).statusCode, 200, 'the password is a way in');
  t.equal((await signInBy(scene, ADA)).refused, 'provider_account_exists');
});

t.test('connecting needs a confirmation, and one person belongs to one account', async (t) => {
  const scene = await aProviderScene(t);
  const { service } = scene;
  const [ada, bob] = [await aPerson(service, 'ada'), await aPerson(service, 'bob')];
  service.clock.advance(LATER_MS);
  t.match((await atProvider(scene, 'link', ADA, ada)).json(), { code: 'confirmation_required' });
  const password = { password: 'correct horse battery' };
  t.match((await atProvider(scene, 'link', ADA, ada, password)).json(), {
    purpose: 'link',
    identity: { issuer: scene.provider.issuer, email: 'ada@example.org' },
  });
  t.equal((await atProvider(scene, 'link', ADA, bob, password)).json().code, 'identity_taken');
  t.equal((await atProvider(scene, 'link', ADA, await aGuest(service))).json().code, 'account_required');
  const [{ id }] = await identitiesOf(scene, ada);
  t.equal((await as(service, bob)('DELETE', `/api/me/identities/${id}`, password)).statusCode, 404);
  t.equal((await as(service, ada)('DELETE', `/api/me/identities/${id}`)).statusCode, 403);
  t.equal((await as(service, ada)('DELETE', `/api/me/identities/${id}`, password)).statusCode, 200);
  t.equal(auditOf(service, 'identity_unlinked').length, 1);
});

t.test('a password reset disconnects, and the user learns of each change', async (t) => {
  const scene = await aProviderScene(t);
  const { service } = scene;
  const [root, ada] = [as(service, await anAdmin(service)), await aPerson(service, 'ada')];
  t.equal((await atProvider(scene, 'link', ADA, ada)).statusCode, 200);
  const made = await root('POST', `/api/admin/users/${ada.id}/reset-links`, { kind: 'password' });
  const code = made.json().url.split('#code=')[1];
  const used = await as(service, null)('POST', '/api/auth/resets/use', { code, password: 'a new password' });
  t.equal(used.statusCode, 200);
  t.same(await identitiesOf(scene, used.json()), []);
  t.equal((await signInBy(scene, ADA)).refused, 'provider_no_account');
  t.equal(auditOf(service, 'identity_unlinked').length, 1);
  const state = stateOf(service);
  t.same(
    state.events.map(({ data }) => data['change']),
    ['sign_in_connected', 'reset_link_created', 'sign_in_disconnected', 'password_reset'],
  );
});

t.test('what a second factor guards is not confirmed at the provider', async (t) => {
  const scene = await aProviderScene(t);
  const { service } = scene;
  const ada = await aPerson(service, 'ada');
  await atProvider(scene, 'link', ADA, ada);
  const { secret } = (await as(service, ada)('POST', '/api/me/mfa')).json();
  await as(service, ada)('POST', '/api/me/mfa/confirm', { code: codeAt(secret, service.clock.now()) });
  t.match((await atProvider(scene, 'confirm', ADA, ada)).json(), { fields: { code: String } });
});

t.test('a provider that is down stops neither the service nor passwords', async (t) => {
  const scene = await aProviderScene(t);
  const ada = await aPerson(scene.service, 'ada');
  scene.provider.close();
  const { answer } = await begin(scene);
  t.match(answer, {
    statusCode: 303,
    headers: { location: '/sign-in/provider#refused=provider_unavailable' },
  });
  t.equal(await statusOf(scene.service, ada), 200);
  const options = (await as(scene.service, null)('GET', '/api/auth/options')).json();
  t.equal(options.provider, 'Example');
});

t.test('a provider is found once it is up', async (t) => {
  const scene = await aProviderScene(t);
  const { issuer } = scene.provider;
  const missing = openIdProvider(
    { issuer: `${issuer}/elsewhere`, ...CLIENT, label: 'x', scopes: ['openid'] },
    { warn: () => undefined },
  );
  const request = {
    redirectUri: 'http://127.0.0.1/cb',
    state: 's',
    nonce: 'n',
    codeVerifier: 'v',
    again: true,
  };
  t.equal(await missing.authorizationUrl(request), 'unavailable');
  const there = openIdProvider(
    { issuer, ...CLIENT, label: 'x', scopes: ['openid'] },
    { warn: () => undefined },
  );
  const url = await there.authorizationUrl(request);
  t.match(url instanceof URL && Object.fromEntries(url.searchParams), { prompt: 'login', max_age: '0' });
});

t.test('without a provider the addresses say so', async (t) => {
  const service = await aService();
  t.match(outcomeOf((await begin({ service })).answer), { refused: 'provider_not_set_up' });
  t.equal((await as(service, null)('GET', '/api/auth/options')).json().provider, null);
});
