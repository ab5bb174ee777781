import t, { type Test } from 'tap';
import { openDatabase, openPool } from '../../../src/adapters/postgres/connection/database.ts';
import { postgresStorage } from '../../../src/adapters/postgres/storage.ts';
import { argon2Hasher } from '../../../src/adapters/security/password-hasher.ts';
import type { Service } from '../../../src/app/main/service.ts';
import type { Repositories, Storage } from '../../../src/ports/storage.ts';
import { freshDatabase, run, statementsOf } from '../../support/database/database.ts';
import { aHolder, randomName } from '../../support/database/stored.ts';
import { scriptedProvider } from '../../support/openid/scripted-provider.ts';
import { begin, callback, finish, outcomeOf, providerPort } from '../../support/openid/sign-in.ts';
import { throwAt } from '../../support/service/bodies.ts';
import { authenticator, codeAt, from, logIn, withMfa } from '../../support/service/factors.ts';
import { aPerson, aService, as, person } from '../../support/service/service.ts';
import { valuesOf } from '../../support/values.ts';

/** The service's clock stands still, so that an app code stays valid. */
const now = new Date();

const url = await freshDatabase(t);
const pool = openPool({ url: url ?? '' });
const statements = statementsOf(pool);
const db = openDatabase(pool);
t.teardown(() => db.destroy());
const storage = postgresStorage(db);
const provider = await scriptedProvider(t);
const openIdProvider = providerPort(provider);
const service = url === null ? null : await aService({ storage, clock: { now: () => now }, openIdProvider });

type OnPostgres = NonNullable<typeof service>;
/** A user with that name, and otherwise unused addresses, so that none is slowed down. */
type Scene = { readonly name: string; readonly place: (n: number) => { readonly ip: string } };
let scenes = 0;

const on = (what: string, work: (t: Test, service: OnPostgres, scene: Scene) => Promise<void>) =>
  t.test(what, async (t) => {
    scenes += 1;
    const third = scenes;
    const scene = { name: randomName(), place: (n: number) => ({ ip: `10.${n}.${third}.1` }) };
    if (service !== null) await work(t, service, scene);
  });

const times = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

const count = (answers: readonly { statusCode: number }[], status: number): number =>
  answers.filter(({ statusCode }) => statusCode === status).length;

on(
  'a waiting sign-in is opened once, however many right codes it is given at once',
  async (t, service, { name, place }) => {
    const { recoveryCodes } = await withMfa(service, name);
    const { mfa_token } = (await logIn(service, name)).json();
    const answers = await Promise.all(
      recoveryCodes.map((code, n) => from(service, place(n))('/api/auth/mfa', { mfa_token, code })),
    );
    t.equal(count(answers, 200), 1);
  },
);

on(
  'turning the factor off while sign-ins wait for it makes nobody wait in a circle',
  async (t, service, { name, place }) => {
    const { who, secret } = await withMfa(service, name);
    const waiting = await times(6, async (n) => (await logIn(service, name, place(n))).json().mfa_token);
    const code = codeAt(secret, now);
    const off = { method: 'DELETE', url: '/api/me/mfa', payload: { code } } as const;
    const answers = await Promise.all([
      ...waiting.map((mfa_token, n) => from(service, place(n))('/api/auth/mfa', { mfa_token, code })),
      service.http.inject({ ...off, headers: { authorization: `Bearer ${who.token}` } }),
    ]);
    t.equal(count(answers, 200), 1, 'the code is good for one of them');
    t.same(
      valuesOf(
        answers.filter(({ statusCode }) => statusCode >= 500),
        'body',
      ),
      [],
    );
  },
);

on(
  'a password that is changed while it confirms something makes nobody wait in a circle',
  async (t, service, { name }) => {
    const call = as(service, await aPerson(service, name));
    await run(url ?? '', "update sessions set signed_in_at = signed_in_at - interval '1 hour'");
    const { password } = person(name);
    const change = { old_password: password, new_password: password };
    for (let round = 0; round < 5; round += 1) {
      const answers = await times(6, (n) =>
        n % 2 === 0
          ? call('POST', '/api/me/password', change)
          : call('POST', '/api/me/passkeys/options', { password }),
      );
      t.equal(count(answers, 503), 0);
      t.ok(count(answers, 200) > 0);
    }
  },
);

on('of new recovery codes that are asked for at once one set is made', async (t, service, { name }) => {
  const { who, recoveryCodes } = await withMfa(service, name);
  const call = as(service, who);
  const answers = await Promise.all(
    recoveryCodes.slice(0, 4).map((code) => call('POST', '/api/me/mfa/recovery-codes', { code })),
  );
  t.same(answers.map(({ statusCode }) => statusCode).sort(), [200, 403, 403, 403]);
  t.equal((await call('GET', '/api/me/mfa')).json().recovery_codes_left, 10);
});

on(
  'of confirmations at once one turns the factor on, and its recovery codes are the ones',
  async (t, service, { name }) => {
    const who = await aPerson(service, name);
    const call = as(service, who);
    const { secret } = (await call('POST', '/api/me/mfa')).json();
    const code = codeAt(secret, now);
    const answers = await times(6, () => call('POST', '/api/me/mfa/confirm', { code }));
    const [won, ...others] = answers.filter(({ statusCode }) => statusCode === 200);
    t.same(others, []);
    const { mfa_token } = (await logIn(service, name)).json();
    const [first] = won?.json().recovery_codes ?? [];
    t.equal((await from(service)('/api/auth/mfa', { mfa_token, code: first })).statusCode, 200);
  },
);

on("a passkey's answer signs in once", async (t, service, { name, place }) => {
  const who = await aPerson(service, name);
  const key = authenticator('http://localhost:8080');
  const call = as(service, who);
  const options = (await call('POST', '/api/me/passkeys/options')).json();
  const registration = { credential: key.create(options) };
  const registered = await times(6, () => call('POST', '/api/me/passkeys/verify', registration));
  t.equal(count(registered, 201), 1, 'and is registered once');
  const challenge = (await from(service)('/api/auth/passkey/options')).json();
  const credential = key.get(challenge);
  const answers = await times(8, (n) => from(service, place(n))('/api/auth/passkey/verify', { credential }));
  t.equal(count(answers, 200), 1);
  const two = await times(2, async () => (await from(service)('/api/auth/passkey/options')).json());
  const same = await Promise.all(
    two.map((one) => from(service)('/api/auth/passkey/verify', { credential: key.get(one, { count: 9 }) })),
  );
  t.equal(count(same, 200), 1, 'nor twice with one count');
});

on('of many wrong passcodes at once five count', async (t, service, { name }) => {
  const call = as(service, await aPerson(service, name));
  await call('PUT', '/api/me/lock', { passcode: '1234' });
  await call('POST', '/api/sessions/lock');
  const answers = await times(12, (n) => call('POST', '/api/sessions/unlock', { passcode: `wrong ${n}` }));
  t.same([count(answers, 403), count(answers, 401)], [5, 7]);
});

on('of changes of the password at once one wins', async (t, service, { name }) => {
  const call = as(service, await aPerson(service, name));
  const answers = await times(4, (n) =>
    call('POST', '/api/me/password', {
      old_password: 'correct horse battery',
      new_password: `another one ${n}`,
    }),
  );
  t.equal(count(answers, 200), 1);
});

/** The same storage with all failures at one moment, so that no throttle delay ends. */
function inOneMoment(storage: Storage): Storage {
  const now = new Date();
  const still = (all: Repositories): Repositories => ({
    ...all,
    throttle: {
      ...all.throttle,
      read: async (keys) => ({ ...(await all.throttle.read(keys)), now }),
      lock: async (keys) => ({ ...(await all.throttle.lock(keys)), now }),
    },
  });
  return {
    ...storage,
    repositories: still(storage.repositories),
    inTransaction: (work) => storage.inTransaction((tx) => work(still(tx))),
  };
}

on(
  'of a burst of guesses five count, in every process on the database and after a restart',
  async (t, _, { name }) => {
    const ports = { storage: inOneMoment(storage), clock: { now: () => new Date() } };
    const [one, two] = [await aService(ports), await aService(ports)];
    await aPerson(one, name);
    const bad = { email: name, password: 'a wrong guess' };
    const answers = await times(24, (n) =>
      from(n % 2 ? one : two, { ip: '203.0.113.7' })('/api/auth/login', bad),
    );
    t.same([count(answers, 401), count(answers, 429)], [5, 19]);
    const restarted = await aService(ports);
    t.equal((await logIn(restarted, name, { ip: '203.0.113.7' })).statusCode, 429);
    t.equal((await logIn(restarted, name, { ip: '198.51.100.9' })).statusCode, 200, 'the owner elsewhere');
  },
);

on('no body makes the database refuse what is stored', async (t, service, { name }) => {
  const { who } = await withMfa(service, name);
  const { settings } = service.ports.storage.repositories;
  await settings.change({ requestsPerMinute: 0 });
  const unwatched = { beforeEach: () => {}, facts: () => '' };
  const statuses = await throwAt({ service, who, ...unwatched });
  for (const status of [200, 400]) t.ok(statuses.has(status), `${status}`);
});

/** The work that a failed sign-in causes for database and hasher. */
async function workOf(
  service: Service,
  email: string,
  { statements, verified }: { readonly statements: string[]; readonly verified: unknown[] },
) {
  statements.length = 0;
  verified.length = 0;
  const { statusCode } = await from(service)('/api/auth/login', { email, password: 'a wrong guess' });
  return { statusCode, statements: [...statements], verifies: verified.length };
}

on('a failed sign-in does the same work whether or not the user exists', async (t, _, { name }) => {
  const verified: (string | null)[] = [];
  const real = await argon2Hasher();
  const verify: typeof real.verify = (hash, password) => {
    verified.push(hash);
    return real.verify(hash, password);
  };
  const clock = { now: () => new Date() };
  const service = await aService({ storage, clock, hasher: { ...real, verify } });
  await aPerson(service, name);
  const asked = { statements, verified };
  const [known, nobody] = [await workOf(service, name, asked), await workOf(service, randomName(), asked)];
  t.match(known, { statusCode: 401, verifies: 1 });
  t.same(nobody, known);
});

t.test("an unknown user's password is hashed like any other", async (t) => {
  const { hash, verify } = await argon2Hasher();
  const stored = await hash('correct horse battery');
  const costOf = async (of: string | null): Promise<number> => {
    const before = process.cpuUsage();
    for (let n = 0; n < 5; n += 1) t.notOk(await verify(of, 'a wrong guess'));
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const [known, nobody] = [await costOf(stored), await costOf(null)];
  t.ok(nobody > known / 4, `${nobody} µs of a processor, and ${known} for one that exists`);
});

on(
  'an invitation makes one account, and a disabled user is reset by none, however all are timed',
  async (t, service, { name, place }) => {
    const { users, settings } = service.ports.storage.repositories;
    await settings.change({ openRegistration: true });
    const root = await aPerson(service, `root-${name}`);
    await users.change(root.id, { role: 'admin' });
    const call = as(service, root);
    const codeOf = (answer: { json(): { url: string } }) => answer.json().url.split('#code=')[1] ?? '';
    const code = codeOf(await call('POST', '/api/admin/invitations', {}));
    const accepted = await times(6, (n) =>
      from(service, place(n))('/api/auth/invitations/accept', { code, ...person(`${name}-${n}`) }),
    );
    t.same([count(accepted, 201), count(accepted, 404)], [1, 5]);

    const ada = await aPerson(service, name);
    const links = await times(4, () =>
      call('POST', `/api/admin/users/${ada.id}/reset-links`, { kind: 'password' }),
    );
    const password = 'a new one, longer than before';
    const answers = await Promise.all([
      ...links.map((link, n) =>
        from(service, place(n))('/api/auth/resets/use', { code: codeOf(link), password }),
      ),
      call('PATCH', `/api/admin/users/${ada.id}`, { disabled: true }),
    ]);
    t.equal(answers.at(-1)?.statusCode, 200);
    t.equal(count(answers, 200) + count(answers, 404), answers.length, 'nobody waits in a circle');
    for (const { statusCode, body } of answers.slice(0, -1)) {
      if (statusCode !== 200) continue;
      t.equal(
        (await as(service, JSON.parse(body))('GET', '/api/me')).statusCode,
        401,
        'ended by the disabling',
      );
    }
    t.equal((await logIn(service, name, {}, { ...person(name), password })).statusCode >= 401, true);
  },
);

/** A sign-in at the provider that only its last step is missing from. */
async function arrivedAs(service: OnPostgres, sub: string, name: string) {
  const { url: there, cookie } = await begin({ service });
  const who = { sub, email: `${name}@example.org`, email_verified: true };
  const { arrived = '' } = outcomeOf(await callback({ service }, provider.authorize(there, who), cookie));
  return () => finish({ service }, arrived, cookie);
}

on(
  'of two people whose first sign-ins meet at one address one gets the account',
  async (t, service, { name }) => {
    await storage.repositories.settings.change({ oidcMatchByEmail: true });
    const unopened = {
      email: `${name}@example.org`,
      username: name,
      passwordHash: null,
      guestUntil: null,
      endsAt: null,
    };
    await storage.repositories.users.insert({ ...unopened, role: 'user', tier: 'free' });
    const finishes = [
      await arrivedAs(service, `${name}-1`, name),
      await arrivedAs(service, `${name}-2`, name),
    ];
    const holder = await aHolder(t, url ?? '');
    await holder.sql('select from users where username = $1 for update', [name]);
    const both = Promise.all(finishes.map((last) => last()));
    await holder.blocks(2);
    await holder.commit();
    const answers = await both;
    t.equal(count(answers, 200), 1);
    t.match(
      answers.filter(({ statusCode }) => statusCode !== 200).map((one) => one.json()),
      [{ code: 'provider_account_exists' }],
    );
  },
);

on('a sign-in that is disconnected meanwhile opens nothing', async (t, service, { name }) => {
  const { id: userId } = await aPerson(service, name);
  const identity = { userId, issuer: provider.issuer, subject: name, email: null };
  await storage.repositories.identities.insert(identity);
  const last = await arrivedAs(service, name, name);
  const holder = await aHolder(t, url ?? '');
  await holder.sql('select from users where id = $1 for no key update', [userId]);
  const answer = last();
  await holder.blocks(1);
  await holder.sql('delete from identities where user_id = $1', [userId]);
  await holder.commit();
  t.not((await answer).statusCode, 200);
});
