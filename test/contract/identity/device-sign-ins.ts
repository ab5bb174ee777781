import { randomUUID } from 'node:crypto';
import {
  atOnce,
  hashOf,
  type OpenedStorage,
  onStorage,
  storedUser,
  trues,
} from '../../support/database/stored.ts';

const from = (ipAddress: string) => ({ ipAddress, userAgent: 'berth/1.0' });

const aStart = (ipAddress = '192.0.2.1') => ({
  deviceHash: hashOf(randomUUID()),
  userCodeHash: hashOf(randomUUID()),
  machine: 'laptop',
  origin: from(ipAddress),
});

/** Guarantees of the repository of sign-ins by a code. */
export function deviceSignInContract(name: string, storage: OpenedStorage): void {
  const test = onStorage(name, storage);

  test('a device sign-in is found by either code until it expires', async (t, { deviceSignIns }) => {
    const start = aStart();
    t.ok((await deviceSignIns.insert(start, 5)) instanceof Date);
    const found = await deviceSignIns.lock(start.deviceHash);
    t.match(found, {
      now: Date,
      signIn: { machine: 'laptop', origin: start.origin, polledAt: null, decision: null, expiresAt: Date },
    });
    t.match(await deviceSignIns.findUndecided(start.userCodeHash), { machine: 'laptop' });
    t.equal(await deviceSignIns.lock(start.userCodeHash), null, 'each code has its own use');
    t.equal(await deviceSignIns.findUndecided(start.deviceHash), null);
    t.equal(await deviceSignIns.insert({ ...aStart(), userCodeHash: start.userCodeHash }, 5), null, 'in use');
    const late = aStart();
    await deviceSignIns.insert(late, 0);
    t.equal(await deviceSignIns.lock(late.deviceHash), null, 'expired');
    t.equal(await deviceSignIns.findUndecided(late.userCodeHash), null);
    t.equal(await deviceSignIns.decide(late.userCodeHash, { kind: 'denied' }, 60), false);
  });

  test('a device sign-in counts for its address, and its polls are noted', async (t, { deviceSignIns }) => {
    const before = await deviceSignIns.count('192.0.2.77');
    t.equal(before.ofAddress, 0);
    const start = aStart('192.0.2.77');
    await deviceSignIns.insert(start, 5);
    await deviceSignIns.insert(aStart('192.0.2.78'), 5);
    await deviceSignIns.insert(aStart('192.0.2.77'), 0);
    t.same(await deviceSignIns.count('192.0.2.77'), { ofAddress: 1, all: before.all + 2 });
    for (const ip of ['2001:db8:0:7::1', '2001:DB8::7:ffff:0:0:1', '2001:db8:0:8::1'])
      await deviceSignIns.insert(aStart(ip), 5);
    t.match(await deviceSignIns.count('2001:db8:0:7::9'), { ofAddress: 2 });
    await deviceSignIns.polled(start.deviceHash);
    t.match(await deviceSignIns.lock(start.deviceHash), { signIn: { polledAt: Date } });
    await deviceSignIns.remove(start.deviceHash);
    t.equal(await deviceSignIns.lock(start.deviceHash), null);
  });

  test('of several decisions on a device sign-in one counts, and only for its time', async (t, repositories, storage) => {
    const { deviceSignIns, sessions } = repositories;
    const { id: userId } = await storedUser(storage);
    const { id: sessionId } = await sessions.insert({ userId, ...from('192.0.2.2') });
    const approved = { kind: 'approved', userId, sessionId } as const;
    const start = aStart();
    const expiry = await deviceSignIns.insert(start, 5);
    const made = await atOnce(storage, 8, (tx, n) =>
      tx.deviceSignIns.decide(start.userCodeHash, n % 2 === 0 ? approved : { kind: 'denied' }, 60),
    );
    t.equal(trues(made), 1);
    t.equal(await deviceSignIns.findUndecided(start.userCodeHash), null, 'nobody else can decide');
    const found = await deviceSignIns.lock(start.deviceHash);
    t.ok(found?.signIn.decision);
    t.ok(found && expiry && found.signIn.expiresAt < expiry, 'the decision must be fetched sooner');
    const brief = aStart();
    await deviceSignIns.insert(brief, 5);
    t.equal(await deviceSignIns.decide(brief.userCodeHash, approved, 0), true);
    t.equal(await deviceSignIns.lock(brief.deviceHash), null);
    const third = aStart();
    await deviceSignIns.insert(third, 5);
    await deviceSignIns.decide(third.userCodeHash, approved, 60);
    t.match(await deviceSignIns.lock(third.deviceHash), { signIn: { decision: approved } });
  });
}
