import { randomBytes, randomUUID } from 'node:crypto';
import type { ProviderClaims } from '../../../src/domain/identity/openid/provider-sign-in.ts';
import type { NewProviderSignIn } from '../../../src/ports/identity/openid/provider-sign-in-repository.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import {
  atOnce,
  hashOf,
  type OnStorage,
  type OpenedStorage,
  onStorage,
  storedUser,
} from '../../support/database/stored.ts';

const ISSUER = 'https://id.example.org';
const AT = { ipAddress: '192.0.2.1', userAgent: 'browser' };

/** Guarantees of sign-ins at an OpenID provider. */
export function openIdContract(name: string, storage: OpenedStorage): void {
  const test = onStorage(name, storage);
  for (const contract of [identityContract, signInContract, sessionContract]) contract(test);
}

function identityContract(test: OnStorage): void {
  test('a person at a provider belongs to one account', async (t, { identities }, storage) => {
    const [ada, bob] = [await storedUser(storage), await storedUser(storage)];
    const person = { issuer: ISSUER, subject: randomUUID(), email: 'ada@example.org' };
    t.equal(await identities.find(ISSUER, person.subject), null);
    const made = await identities.insert({ userId: ada.id, ...person });
    t.match(made, { ...person, userId: ada.id, createdAt: Date, lastUsedAt: null });
    t.equal(await identities.insert({ userId: bob.id, ...person }), null);
    t.equal(await identities.insert({ userId: ada.id, ...person }), null);
    const elsewhere = { ...person, issuer: 'https://other.example.org', email: null };
    t.ok(await identities.insert({ userId: ada.id, ...elsewhere }), 'subjects are of their issuer');
    const id = made?.id ?? '';
    await identities.used(id, 'new@example.org');
    t.match(await identities.find(ISSUER, person.subject), { email: 'new@example.org', lastUsedAt: Date });
    t.match(await identities.listOf(ada.id), [{ issuer: ISSUER }, { issuer: elsewhere.issuer }]);
    t.same(await identities.listOf(bob.id), []);
    t.equal(await identities.remove(id, bob.id), false);
    t.equal(await identities.remove(id, ada.id), true);
    t.equal(await identities.remove(id, ada.id), false);
  });

  test('of connections at once one counts', async (t, _repositories, storage) => {
    const { id: userId } = await storedUser(storage);
    const person = { userId, issuer: ISSUER, subject: randomUUID(), email: null };
    const made = await atOnce(storage, 8, (tx) => tx.identities.insert(person));
    t.equal(made.filter((one) => one !== null).length, 1);
  });
}

const aStart = (over: Partial<NewProviderSignIn> = {}): NewProviderSignIn => ({
  stateHash: randomBytes(32),
  browserHash: randomBytes(32),
  purpose: 'sign_in',
  sessionId: null,
  invitationHash: null,
  nonce: 'nonce',
  codeVerifier: 'verifier',
  returnPath: '/containers',
  ...over,
});

const claimsOf = (subject: string, sid: string | null = null): ProviderClaims => ({
  issuer: ISSUER,
  subject,
  email: 'ada@example.org',
  emailVerified: true,
  username: null,
  sid,
  authTime: new Date('2026-01-01T00:00:00Z'),
});

/** A sign-in that has arrived. */
async function arrived({ repositories: { providerSignIns } }: Storage, claims: ProviderClaims) {
  const start = aStart();
  await providerSignIns.insert(start, 5);
  const spent = await providerSignIns.spend(start.stateHash);
  await providerSignIns.arrive(spent?.id ?? '', claims, Buffer.from('sealed'));
  return { id: spent?.id ?? '', start };
}

function signInContract(test: OnStorage): void {
  test('a state is spent once, and not after its end', async (t, { providerSignIns }, storage) => {
    const start = aStart();
    await providerSignIns.insert(start, 5);
    t.equal(await providerSignIns.spend(randomBytes(32)), null);
    const spent = await atOnce(storage, 8, (tx) => tx.providerSignIns.spend(start.stateHash));
    t.match(
      spent.filter((one) => one !== null),
      [{ ...start, id: String, startedAt: Date }],
    );
    const late = aStart();
    await providerSignIns.insert(late, 0);
    t.equal(await providerSignIns.spend(late.stateHash), null);
  });

  test('a sign-in of an invitation names it', async (t, { providerSignIns }) => {
    const invitationHash = randomBytes(32);
    const start = aStart({ purpose: 'invitation', invitationHash });
    await providerSignIns.insert(start, 5);
    const spent = await providerSignIns.spend(start.stateHash);
    t.match(spent, { purpose: 'invitation', invitationHash });
    await providerSignIns.arrive(spent?.id ?? '', claimsOf(randomUUID()), Buffer.from('sealed'));
    const finished = await providerSignIns.finish(spent?.id ?? '', start.browserHash);
    t.match(finished, { purpose: 'invitation', invitationHash, sessionId: null });
  });

  test('what arrived is finished once, by its browser', async (t, { providerSignIns }, storage) => {
    const waiting = aStart();
    await providerSignIns.insert(waiting, 5);
    const { id: early = '' } = (await providerSignIns.spend(waiting.stateHash)) ?? {};
    t.equal(await providerSignIns.finish(early, waiting.browserHash), null, 'nothing arrived');
    const claims = claimsOf(randomUUID());
    const { id, start } = await arrived(storage, claims);
    t.equal(await providerSignIns.finish(id, randomBytes(32)), null);
    t.equal(await providerSignIns.find(id, randomBytes(32)), null);
    t.equal(await providerSignIns.find(early, waiting.browserHash), null, 'nothing arrived');
    t.match(await providerSignIns.find(id, start.browserHash), { purpose: 'sign_in', claims });
    const finished = await atOnce(storage, 8, (tx) => tx.providerSignIns.finish(id, start.browserHash));
    t.match(
      finished.filter((one) => one !== null),
      [
        {
          purpose: 'sign_in',
          sessionId: null,
          claims,
          sealedIdToken: Buffer.from('sealed'),
          startedAt: Date,
        },
      ],
    );
    t.equal(await providerSignIns.find(id, start.browserHash), null);
  });

  test('a sign-out ends what is not complete, of that person alone', async (t, repositories, storage) => {
    const { providerSignIns, pending } = repositories;
    const { id: userId } = await storedUser(storage);
    const [ada, bob] = [randomUUID(), randomUUID()];
    const one = await arrived(storage, claimsOf(ada, 'one'));
    const two = await arrived(storage, claimsOf(ada, 'two'));
    const other = await arrived(storage, claimsOf(bob));
    const proof = randomBytes(32);
    const provider = { issuer: ISSUER, subject: ada, sid: 'one', sealedIdToken: Buffer.from('sealed') };
    await pending.insert(proof, 'second_factor', userId, 5, provider);
    t.same(await pending.lock(proof, 'second_factor'), { tries: 0, provider });
    await providerSignIns.endAll({ issuer: ISSUER, subject: ada, sid: 'one' });
    t.equal(await pending.lock(proof, 'second_factor'), null);
    t.equal(await providerSignIns.finish(one.id, one.start.browserHash), null);
    t.ok(await providerSignIns.finish(two.id, two.start.browserHash));
    t.ok(await providerSignIns.finish(other.id, other.start.browserHash));
  });
}

function sessionContract(test: OnStorage): void {
  test('sessions are found by the provider’s session or person', async (t, repositories, storage) => {
    const { sessions, providerSessions } = repositories;
    const { id: userId } = await storedUser(storage);
    const [subject, sid] = [randomUUID(), randomUUID()];
    const open = async (of: string | null) => {
      const { id } = await sessions.insert({ userId, ...AT });
      await providerSessions.insert(id, {
        issuer: ISSUER,
        subject,
        sid: of,
        sealedIdToken: Buffer.from('x'),
      });
      return { id, userId };
    };
    const [one, two] = [await open(sid), await open(null)];
    t.match(await providerSessions.find(one.id), { subject, sid, sealedIdToken: Buffer.from('x') });
    t.equal(await providerSessions.find(randomUUID()), null);
    const byId = (all: readonly { id: string }[]) => all.map(({ id }) => id).sort();
    const person = { issuer: ISSUER, subject, sid: null };
    t.same(byId(await providerSessions.listOf(person)), byId([one, two]));
    const foreign = await open(randomUUID());
    const named = byId(await providerSessions.listOf({ ...person, sid }));
    t.same(named, byId([one, two]), 'and those that the provider did not name');
    t.notOk(named.includes(foreign.id));
    t.same(await providerSessions.listOf({ ...person, subject: null, sid }), [one]);
    t.same(await providerSessions.listOf({ ...person, issuer: 'https://other.example.org' }), []);
    await sessions.revoke(one.id, userId, 'revoked');
    t.same(byId(await providerSessions.listOf(person)), byId([two, foreign]), 'not the revoked one');
  });

  test('a logout token is used once', async (t, { providerSessions }, storage) => {
    const used = await atOnce(storage, 8, (tx) =>
      tx.providerSessions.useLogoutToken(hashOf(randomUUID()), 5),
    );
    t.same(new Set(used), new Set([true]));
    const hash = randomBytes(32);
    const same = await atOnce(storage, 8, (tx) => tx.providerSessions.useLogoutToken(hash, 5));
    t.equal(same.filter((first) => first).length, 1);
    t.equal(await providerSessions.useLogoutToken(hash, 5), false);
  });

  test('a sign-out is remembered for those that began before', async (t, { providerSessions }) => {
    const [issuer, subject, sid] = ['https://id.example.org', randomUUID(), randomUUID()];
    const [past, ahead] = [new Date('2020-01-01T00:00:00Z'), new Date('2100-01-01T00:00:00Z')];
    const was = (one: object, since = past) =>
      providerSessions.wasSignedOut({ issuer, subject, sid, ...one }, since);
    t.notOk(await was({}));
    await providerSessions.noteSignOut({ issuer, subject: null, sid }, 5);
    t.ok(await was({}));
    t.notOk(await was({}, ahead));
    for (const other of [{ sid: randomUUID() }, { sid: null }, { issuer: 'https://other.example.org' }])
      t.notOk(await was(other), JSON.stringify(other));
    await providerSessions.noteSignOut({ issuer, subject, sid: randomUUID() }, 5);
    t.ok(await was({ sid: null }), 'the provider did not name its session');
    t.notOk(await was({ sid: randomUUID() }));
    await providerSessions.noteSignOut({ issuer, subject, sid: null }, 5);
    t.ok(await was({ sid: randomUUID() }));
    t.notOk(await was({ subject: randomUUID(), sid: randomUUID() }));
  });

  test('either a sign-out sees a session, or what opens it sees the sign-out', async (t, _, storage) => {
    const { id: userId } = await storedUser(storage);
    for (let n = 0; n < 10; n += 1) {
      const whom = { issuer: 'https://id.example.org', subject: randomUUID(), sid: null };
      const since = new Date('2020-01-01T00:00:00Z');
      const [opened, ended] = await Promise.all([
        storage.inTransaction(async (tx) => {
          if (await tx.providerSessions.wasSignedOut(whom, since)) return 0;
          const { id } = await tx.sessions.insert({ userId, ...AT });
          await tx.providerSessions.insert(id, { ...whom, sealedIdToken: null });
          return 1;
        }),
        storage.inTransaction(async (tx) => {
          await tx.providerSessions.noteSignOut(whom, 5);
          return (await tx.providerSessions.listOf(whom)).length;
        }),
      ]);
      t.equal(opened, ended);
    }
  });

  test('a session says when its user signed in, and never in the future', async (t, {
    sessions,
  }, storage) => {
    const { id: userId } = await storedUser(storage);
    const [past, ahead] = [new Date('2020-01-01T00:00:00Z'), new Date('2100-01-01T00:00:00Z')];
    const at = async (signedInAt?: Date | null) => {
      const { id } = await sessions.insert({ userId, ...AT, signedInAt });
      const { session } = (await sessions.findWithUser(id)) ?? {};
      return [session?.signedInAt, session?.createdAt];
    };
    t.match(await at(past), [past]);
    t.match(await at(null), [null]);
    for (const given of [ahead, undefined]) {
      const [signedInAt, createdAt] = await at(given);
      t.same(signedInAt, createdAt);
    }
  });

  test('a confirmation counts from now', async (t, { sessions }, storage) => {
    const { id: userId } = await storedUser(storage);
    const { id, confirmedAt } = await sessions.insert({ userId, ...AT });
    t.equal(confirmedAt, null);
    await sessions.confirm(id);
    t.match(await sessions.findWithUser(id), { session: { confirmedAt: Date } });
  });
}
