import t, { type Test } from 'tap';
import type { AtProvider, Forgery } from '../../../support/openid/scripted-provider.ts';
import {
  aProviderScene,
  atProvider,
  COOKIE,
  callback,
  cookieOf,
  finish,
  outcomeOf,
  type ProviderScene,
  signInBy,
} from '../../../support/openid/sign-in.ts';
import {
  anAdmin,
  aPerson,
  as,
  auditOf,
  type Bearer,
  outcome,
  person,
  stateOf,
} from '../../../support/service/service.ts';

const ADA = { sub: 'ada', email: 'ada@example.org', email_verified: true, preferred_username: 'ada' };
const HOUR_MS = 3_600_000;

type Scene = ProviderScene & { readonly root: Bearer };

/** First sign-ins are off. */
async function aScene(t: Test): Promise<Scene> {
  const scene = await aProviderScene(t);
  return { ...scene, root: await anAdmin(scene.service) };
}

async function invite({ service, root }: Scene, asked: object = {}): Promise<{ id: string; code: string }> {
  const made = (await as(service, root)('POST', '/api/admin/invitations', asked)).json();
  return { id: made.id, code: made.url.split('#code=')[1] };
}

const start = ({ service }: ProviderScene, code: string) =>
  as(service, null)('POST', '/api/auth/oidc/invitation', { code });

/** To the provider and back: what the page then finishes, and in which browser. */
async function arrive(scene: ProviderScene, code: string, who: AtProvider, forgery: Forgery = {}) {
  const started = await start(scene, code);
  const cookie = cookieOf(started);
  const asked = new URL(started.json().url).searchParams;
  if (asked.get('prompt') !== 'login')
    throw new Error('the provider would let anybody in who is signed in there');
  const back = scene.provider.authorize(started.json().url, who, forgery);
  const { arrived = '', purpose } = outcomeOf(await callback(scene, back, cookie));
  return { arrived, cookie, back, purpose };
}

async function accept(scene: ProviderScene, code: string, who: AtProvider, forgery: Forgery = {}) {
  const { arrived, cookie } = await arrive(scene, code, who, forgery);
  return await finish(scene, arrived, cookie);
}

const invitationOf = async ({ service, root }: Scene, id: string) =>
  (await as(service, root)('GET', '/api/admin/invitations'))
    .json()
    .invitations.find((one: { id: string }) => one.id === id);

/** Refused and recorded; no account is made, nobody is connected. */
async function refused(t: Test, scene: Scene, answer: ReturnType<typeof finish>, code: string) {
  const { users, identities } = stateOf(scene.service);
  const before = [users.length, identities.length];
  t.equal((await answer).json().code, code);
  const now = stateOf(scene.service);
  t.same([now.users.length, now.identities.length], before);
  t.match(auditOf(scene.service, 'login_failed').at(-1), { details: code, userId: null });
}

t.test('a person at the provider accepts an invitation, without a password', async (t) => {
  const scene = await aScene(t);
  const { service } = scene;
  const { id, code } = await invite(scene, { tier: 'pro' });
  const { arrived, cookie, purpose } = await arrive(scene, code, ADA);
  t.equal(purpose, 'invitation');
  t.match(await invitationOf(scene, id), { state: 'open' }, 'not used by the sign-in alone');
  const joined = await finish(scene, arrived, cookie);
  t.match(joined.json(), {
    token: String,
    user: { username: 'ada', email: 'ada@example.org', role: 'user', tier: 'pro' },
  });
  t.match(await invitationOf(scene, id), { state: 'used', user: { username: 'ada' } });
  t.match((await as(service, joined.json())('GET', '/api/me')).json(), { password_set: false });
  const userId = joined.json().user.id;
  t.match(auditOf(service, 'invitation_accepted'), [{ userId, details: id }]);
  t.match(auditOf(service, 'identity_linked'), [{ userId, details: /"by":"invitation"/ }]);
  t.match((await signInBy(scene, ADA)).answer.json(), { user: { id: userId } }, 'recognized from then on');
  t.match((await as(service, joined.json())('POST', '/api/auth/logout')).json(), {
    provider_sign_out_url: String,
  });
});

t.test('an invitation is used once: by one of several browsers, and not again', async (t) => {
  const scene = await aScene(t);
  const { code } = await invite(scene);
  const names = ['ada', 'bob', 'cyd'];
  const there = [];
  for (const sub of names)
    there.push(await arrive(scene, code, { ...ADA, sub, email: `${sub}@example.org` }));
  const answers = await Promise.all(there.map(({ arrived, cookie }) => finish(scene, arrived, cookie)));
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 404, 404]);
  t.equal(stateOf(scene.service).users.length, 2, 'one account beside the administrator');
  const [first] = there;
  t.equal(
    (await finish(scene, first?.arrived ?? '', first?.cookie ?? '')).json().code,
    'provider_sign_in_expired',
  );
  t.equal((await start(scene, code)).json().code, 'link_not_valid');
});

t.test('an invitation that ended while its person was at the provider opens nothing', async (t) => {
  const scene = await aScene(t);
  const { service, root } = scene;
  const ends = {
    withdrawn: ({ id }: { id: string }) => as(service, root)('DELETE', `/api/admin/invitations/${id}`),
    used: ({ code }: { code: string }) =>
      as(service, null)('POST', '/api/auth/invitations/accept', { code, ...person('bob') }),
  };
  for (const end of Object.values(ends)) {
    const invitation = await invite(scene);
    const { arrived, cookie } = await arrive(scene, invitation.code, ADA);
    await end(invitation);
    await refused(t, scene, finish(scene, arrived, cookie), 'link_not_valid');
  }
  const late = await invite(scene, { expires_in_hours: 1 });
  service.clock.advance(HOUR_MS - 60_000);
  const { arrived, cookie } = await arrive(scene, late.code, { ...ADA, auth_time: 0 });
  service.clock.advance(60_000);
  await refused(t, scene, finish(scene, arrived, cookie), 'link_not_valid');
});

t.test('an answer counts in the browser that began, and for its invitation alone', async (t) => {
  const scene = await aScene(t);
  const { service, root } = scene;
  const { id, code } = await invite(scene);
  const mine = await arrive(scene, code, ADA);
  const foreign = cookieOf(await start(scene, code));
  t.not(foreign, mine.cookie);
  for (const cookie of [foreign, null]) {
    await refused(t, scene, finish(scene, mine.arrived, cookie), 'provider_sign_in_expired');
  }
  const connecting = await as(service, root)(
    'POST',
    '/api/me/identities/finish',
    { id: mine.arrived },
    { cookie: `${COOKIE}=${mine.cookie}` },
  );
  t.equal(connecting.json().code, 'provider_sign_in_expired', 'it connects to no account that exists');
  t.match(await invitationOf(scene, id), { state: 'open' });
  t.same(outcome(await start(scene, 'x'.repeat(43))), [404, 'link_not_valid']);
  t.match(auditOf(service, 'login_failed').at(-1), { details: 'account link' });
});

t.test('an account gets a verified address, and the invited one', async (t) => {
  const scene = await aScene(t);
  const { id, code } = await invite(scene, { email: 'Ada@example.org', username: 'countess' });
  const cases = [
    [{ ...ADA, email_verified: false }, 'provider_email_unverified'],
    [{ sub: 'ada' }, 'provider_email_unverified'],
    [{ ...ADA, email: 'eve@example.org' }, 'provider_other_address'],
  ] as const;
  for (const [who, expected] of cases) await refused(t, scene, accept(scene, code, who), expected);
  const anyone = await invite(scene);
  const unverified = accept(scene, anyone.code, { ...ADA, email_verified: false });
  await refused(t, scene, unverified, 'provider_email_unverified');
  t.match(await invitationOf(scene, id), { state: 'open' }, 'refusals leave it open');
  const joined = await accept(scene, code, { ...ADA, email: 'ADA@example.org' });
  t.match(joined.json(), { user: { username: 'countess', email: 'ADA@example.org' } });
});

t.test('whoever is only signed in at the provider gets no account by an invitation for anyone', async (t) => {
  const scene = await aScene(t);
  const unsaid: Forgery = { without: ['auth_time'] };
  const { id, code } = await invite(scene);
  const stale = { ...ADA, auth_time: Date.parse('2025-12-31') / 1000 };
  await refused(t, scene, accept(scene, code, stale), 'provider_not_asked');
  await refused(t, scene, accept(scene, code, ADA, unsaid), 'provider_not_asked');
  t.match(await invitationOf(scene, id), { state: 'open' });
  const named = await invite(scene, { email: 'ada@example.org' });
  await refused(t, scene, accept(scene, named.code, stale), 'provider_not_asked');
  const joined = await accept(scene, named.code, ADA, unsaid);
  t.equal(joined.statusCode, 200, 'the invited address says who it is');
});

t.test('an account that exists is neither opened nor copied', async (t) => {
  const scene = await aScene(t);
  const { service } = scene;
  const ada = await aPerson(service, 'ada');
  const { code } = await invite(scene, { role: 'admin' });
  await refused(t, scene, accept(scene, code, ADA), 'provider_account_exists');
  t.equal((await atProvider(scene, 'link', ADA, ada)).statusCode, 200);
  const moved = { ...ADA, email: 'new@example.org' };
  await refused(t, scene, accept(scene, code, moved), 'provider_already_connected');
  const named = await invite(scene, { username: 'ada' });
  const bob = { ...ADA, sub: 'bob', email: 'bob@example.org' };
  await refused(t, scene, accept(scene, named.code, bob), 'provider_name_taken');
});

t.test('where the invitation names nobody, a name that is taken is replaced by a chosen one', async (t) => {
  const scene = await aScene(t);
  await aPerson(scene.service, 'ada');
  const { id, code } = await invite(scene, { role: 'admin' });
  const bob = { ...ADA, sub: 'bob', email: 'bob@example.org' };
  const { arrived, cookie } = await arrive(scene, code, bob);
  const asked = await finish(scene, arrived, cookie);
  t.match(asked.json(), { code: 'provider_username_needed', suggestion: 'ada-2' });
  t.match(await invitationOf(scene, id), { state: 'open' });
  const joined = await finish(scene, arrived, cookie, {}, { username: 'bob' });
  t.match(joined.json(), { user: { role: 'admin', username: 'bob' } });

  const named = await invite(scene, { username: 'cyd' });
  const cyd = await arrive(scene, named.code, { ...ADA, sub: 'cyd', email: 'cyd@example.org' });
  const other = await finish(scene, cyd.arrived, cyd.cookie, {}, { username: 'root-2' });
  t.equal(other.json().user.username, 'cyd', 'an invited name is not replaced');
});

t.test('an invitation ends with the rights of its administrator', async (t) => {
  const scene = await aScene(t);
  const { service, root } = scene;
  const other = await aPerson(service, 'other');
  const change = (to: object) => as(service, root)('PATCH', `/api/admin/users/${other.id}`, to);
  t.equal((await change({ role: 'admin' })).statusCode, 200);
  const { code } = await invite({ ...scene, root: other }, { role: 'admin' });
  const { arrived, cookie } = await arrive(scene, code, ADA);
  t.equal((await change({ role: 'user' })).statusCode, 200);
  await refused(t, scene, finish(scene, arrived, cookie), 'link_not_valid');
});
