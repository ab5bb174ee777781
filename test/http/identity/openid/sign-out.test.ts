import t from 'tap';
import type { OpenIdProvider } from '../../../../src/ports/identity/openid/openid-provider.ts';
import { type Forgery, scriptedProvider } from '../../../support/openid/scripted-provider.ts';
import {
  aProviderScene,
  begin,
  callback,
  finish,
  outcomeOf,
  providerPort,
  signInBy,
  signOutBy,
} from '../../../support/openid/sign-in.ts';
import {
  aPerson,
  aService,
  as,
  auditOf,
  type Bearer,
  refresh,
  stateOf,
  statusOf,
} from '../../../support/service/service.ts';
import { eventClient } from '../../../support/service/streams.ts';
import { listening } from '../../../support/terminal/terminals.ts';

const ADA = { sub: 'ada', email: 'ada@example.org', email_verified: true };
const OPEN = { oidcCreateAccounts: true };

t.test('a logout token ends the sessions of the provider’s session, or of the person', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const { service, provider } = scene;
  const enter = async (sub: string, sid: string) => {
    const { answer } = await signInBy(scene, { ...ADA, sub, email: `${sub}@example.org`, sid });
    const cookie = answer.cookies.find(({ name }) => name === 'berth_refresh')?.value ?? '';
    return { ...answer.json(), id: answer.json().user.id, cookie };
  };
  const [one, two, bob] = [await enter('ada', 'one'), await enter('ada', 'two'), await enter('bob', 'three')];
  const { user_code, device_code } = (
    await as(service, null)('POST', '/api/auth/device', { machine: 'laptop' })
  ).json();
  t.equal((await as(service, one)('POST', '/api/auth/device/approve', { user_code })).statusCode, 200);
  const program = (await as(service, null)('POST', '/api/auth/device/token', { device_code })).json();

  const first = await signOutBy(scene, await provider.logoutToken({ sub: 'ada', sid: 'one' }));
  t.same(
    [first.statusCode, first.json()],
    [200, { ended: 2 }],
    'the browser, and the program that it let in',
  );
  t.same(
    await Promise.all([one, program, two, bob].map((who) => statusOf(service, who))),
    [401, 401, 200, 200],
  );
  t.match((await refresh(service, one)).json(), { reason: 'provider_signed_out' });
  t.equal(auditOf(service, 'session_revoked').length, 2);
  t.same((await signOutBy(scene, await provider.logoutToken({ sub: 'ada' }))).json(), { ended: 1 });
  t.same(await Promise.all([two, bob].map((who) => statusOf(service, who))), [401, 200]);
  t.same((await signOutBy(scene, await provider.logoutToken({ sid: 'three' }))).json(), { ended: 1 });
  t.same((await signOutBy(scene, await provider.logoutToken({ sub: 'unknown' }))).json(), { ended: 0 });
});

t.test('open sockets of the session are closed at once', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const address = await listening(t, scene.service);
  const who = (await signInBy(scene, ADA)).answer.json() as Bearer;
  const events = await eventClient(address.replace(/^http/, 'ws'), who.token);
  await signOutBy(scene, await scene.provider.logoutToken({ sub: 'ada' }));
  t.same(await events.closed(), [4001, 'unauthorized']);
});

t.test('a sign-in that is not complete ends, too', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const { url, cookie } = await begin(scene);
  const { arrived = '' } = outcomeOf(await callback(scene, scene.provider.authorize(url, ADA), cookie));
  await signOutBy(scene, await scene.provider.logoutToken({ sub: 'ada' }));
  t.equal((await finish(scene, arrived, cookie)).statusCode, 400);
});

t.test('a sign-in during which the provider signs its user out is not completed', async (t) => {
  const provider = await scriptedProvider(t);
  const port = providerPort(provider);
  let before = async (): Promise<unknown> => null;
  const redeem: typeof port.redeem = async (answer) => {
    const redeemed = await port.redeem(answer);
    await before();
    return redeemed;
  };
  const service = await aService({ openIdProvider: { ...port, redeem } });
  await service.ports.storage.repositories.settings.change(OPEN);
  const scene = { service, provider };
  before = async () => {
    service.clock.advance(1_000);
    await signOutBy(scene, await provider.logoutToken({ sub: 'ada' }));
  };
  t.equal((await signInBy(scene, ADA)).refused, 'provider_sign_in_expired');
  t.equal((await signInBy(scene, { ...ADA, sub: 'eve', email: 'eve@example.org' })).refused, null);
  before = async () => null;
  service.clock.advance(1_000);
  t.equal((await signInBy(scene, ADA)).refused, null, 'a later one is another');
});

const BAD: Readonly<Record<string, Forgery>> = {
  'a nonce': { claims: { nonce: 'one' } },
  'no event': { without: ['events'] },
  'another event': { claims: { events: { 'https://example.org/other': {} } } },
  'an event that is no object': {
    claims: { events: { 'http://schemas.openid.net/event/backchannel-logout': 'yes' } },
  },
  'no id': { without: ['jti'] },
  'no time': { without: ['iat'] },
  'an old time': { claims: { iat: Math.floor(Date.now() / 1000) - 600 } },
  'an expiry in the past': { claims: { exp: Math.floor(Date.now() / 1000) - 60 } },
  'neither person nor session': { without: ['sub', 'sid'] },
  'another issuer': { claims: { iss: 'https://evil.example.org' } },
  'another audience': { claims: { aud: 'another client' } },
  'no signature': { key: 'none' },
  'a foreign key': { key: 'foreign' },
};

for (const [name, forgery] of Object.entries(BAD)) {
  t.test(`a logout token with ${name} ends nothing`, async (t) => {
    const scene = await aProviderScene(t, OPEN);
    const who = (await signInBy(scene, ADA)).answer.json();
    const answer = await signOutBy(scene, await scene.provider.logoutToken({ sub: 'ada' }, forgery));
    t.same([answer.statusCode, answer.json().code], [400, 'logout_token_rejected']);
    t.equal(await statusOf(scene.service, who), 200);
  });
}

t.test('a logout token works once', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const token = await scene.provider.logoutToken({ sub: 'ada' });
  t.equal((await signOutBy(scene, token)).statusCode, 200);
  const who = (await signInBy(scene, ADA)).answer.json();
  t.equal((await signOutBy(scene, token)).statusCode, 400);
  t.equal(await statusOf(scene.service, who), 200);
  for (const text of ['', 'no token', 'a.b.c']) t.equal((await signOutBy(scene, text)).statusCode, 400);
});

t.test('a logout token is not refused because the keys cannot be read', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  scene.provider.break('/jwks');
  const answer = await signOutBy(scene, await scene.provider.logoutToken({ sub: 'ada' }));
  t.same([answer.statusCode, answer.json().code], [503, 'provider_unavailable']);
});

t.test('signing out does not wait for the provider', async (t) => {
  const asked = Promise.withResolvers<void>();
  const provider = await scriptedProvider(t);
  const silent: OpenIdProvider = {
    ...providerPort(provider),
    async signOutUrl() {
      asked.resolve();
      return await new Promise<never>(() => undefined);
    },
  };
  const service = await aService({ openIdProvider: silent });
  await service.ports.storage.repositories.settings.change(OPEN);
  const scene = { service, provider };
  const who = (await signInBy(scene, ADA)).answer.json();
  const leaving = as(scene.service, who)('POST', '/api/auth/logout');
  await asked.promise;
  t.equal(await statusOf(scene.service, who), 401, 'the session has ended already');
  t.same((await leaving).json(), { logged_out: true, provider_sign_out_url: null });
});

t.test('signing out offers the provider’s sign-out, to sessions that came from there', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const by = as(scene.service, (await signInBy(scene, ADA)).answer.json());
  const { provider_sign_out_url: url } = (await by('POST', '/api/auth/logout')).json();
  const asked = new URL(url);
  t.equal(`${asked.origin}${asked.pathname}`, `${scene.provider.issuer}/end`);
  t.match(Object.fromEntries(asked.searchParams), {
    client_id: 'berth',
    id_token_hint: /^[\w-]+\.[\w-]+\.[\w-]+$/,
    post_logout_redirect_uri: 'http://127.0.0.1:8080/sign-in',
  });
  const bob = as(scene.service, await aPerson(scene.service, 'bob'));
  t.same((await bob('POST', '/api/auth/logout')).json(), { logged_out: true, provider_sign_out_url: null });
});

t.test('a stored ID token that was changed does not hinder a sign-out', async (t) => {
  const scene = await aProviderScene(t, OPEN);
  const by = as(scene.service, (await signInBy(scene, ADA)).answer.json());
  const { providerSessions } = stateOf(scene.service);
  for (const [id, stored] of providerSessions) {
    const changed = `${stored.sealedIdToken?.slice(0, -2)}${stored.sealedIdToken?.endsWith('00') ? '01' : '00'}`;
    providerSessions.set(id, { ...stored, sealedIdToken: changed });
  }
  const left = await by('POST', '/api/auth/logout');
  t.same([left.statusCode, left.json().logged_out], [200, true]);
  const asked = new URL(left.json().provider_sign_out_url).searchParams;
  t.equal(asked.has('id_token_hint'), false, 'the provider asks instead');
  t.equal((await by('GET', '/api/me')).statusCode, 401);
});
