import t from 'tap';
import { checkAudit } from '../../src/app/audit/verify-audit.ts';
import { headText } from '../../src/domain/audit-chain.ts';
import { UnknownPage } from '../../src/ports/pagination.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { NOBODY, storedUser } from '../support/database/stored.ts';

/** Guarantees of the audit log. */
export async function auditLogContract(name: string, storage: Storage): Promise<void> {
  const { audit } = storage.repositories;
  const entry = (userId: string | null, details: string) =>
    ({ userId, action: 'login_failed', ipAddress: '::1', userAgent: 'agent', details }) as const;

  await t.test(`${name}: a record is stored as given, with an id and a time`, async (t) => {
    const { id: userId } = await storedUser(storage);
    await audit.append({ ...entry(userId, 'text "🚢"'), action: 'session_revoked' });
    const { items, next } = await audit.page({ userId }, { after: null, limit: 10 });
    t.match(items, [
      { ...entry(userId, 'text "🚢"'), action: 'session_revoked', id: /^[0-9a-f-]{36}$/, createdAt: Date },
    ]);
    t.equal(next, null);
    await audit.append(entry(null, 'of nobody'));
  });

  await t.test(`${name}: pages are continuous, also for records of one instant`, async (t) => {
    const { id: userId } = await storedUser(storage);
    await storage.inTransaction(async (tx) => {
      for (let n = 0; n < 5; n += 1) await tx.audit.append(entry(userId, `${n}`));
    });
    for (let n = 5; n < 8; n += 1) await audit.append(entry(userId, `${n}`));
    const seen: string[] = [];
    let after: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof audit.page>> = await audit.page({ userId }, { after, limit: 3 });
      seen.push(...page.items.map(({ details }) => details));
      after = page.next;
      await audit.append(entry(userId, 'new'));
    } while (after !== null && seen.length < 20);
    t.equal(seen.length, 8);
    t.same([...seen].sort(), ['0', '1', '2', '3', '4', '5', '6', '7']);
    t.same(new Set(seen.slice(0, 3)), new Set(['5', '6', '7']), 'the newest come first');
    const oldest = await audit.page({ userId }, { after: null, limit: 3, oldestFirst: true });
    const later = await audit.page({ userId }, { after: oldest.next, limit: 2, oldestFirst: true });
    const first = [...oldest.items, ...later.items].map(({ details }) => details);
    t.same(first.sort(), ['0', '1', '2', '3', '4'], 'or the oldest');
    const forged = [`1_${'x'.repeat(36)}`, `1_${'-'.repeat(36)}`];
    for (const bad of ['x', NOBODY, ...forged.map((text) => Buffer.from(text).toString('base64url'))]) {
      await t.rejects(audit.page({}, { after: bad, limit: 1 }), UnknownPage, bad);
    }
  });

  await t.test(`${name}: filters combine: user, action, from and to`, async (t) => {
    const { id: userId } = await storedUser(storage);
    await audit.append({ ...entry(userId, 'a'), action: 'login' });
    await audit.append(entry(userId, 'b'));
    const of = async (filter: object) =>
      (await audit.page({ userId, ...filter }, { after: null, limit: 9 })).items.map(
        ({ details }) => details,
      );
    t.same(await of({ action: 'login' }), ['a']);
    const { items } = await audit.page({ userId }, { after: null, limit: 9 });
    const at = items[0]?.createdAt ?? new Date();
    t.same(await of({ from: new Date(at.getTime() + 1000) }), []);
    t.same(await of({ to: new Date(at.getTime() - 60_000) }), []);
    t.same(
      new Set(await of({ from: new Date(at.getTime() - 60_000), to: new Date(at.getTime() + 1000) })),
      new Set(['a', 'b']),
    );
  });
}

/** Guarantees of the hash chain. */
export async function auditChainContract(name: string, storage: Storage): Promise<void> {
  const { audit, auditChain } = storage.repositories;
  const entry = { userId: null, action: 'login', ipAddress: '::1', userAgent: 'agent "🚢"' } as const;
  const sealAll = async (): Promise<void> => {
    for (let n = 0; n < 1_000 && (await auditChain.seal(100)) > 0; n += 1);
  };

  await t.test(`${name}: records are sealed once, in parts, and the chain verifies`, async (t) => {
    await sealAll();
    const before = (await auditChain.head())?.seq ?? 0n;
    for (let n = 0; n < 5; n += 1) await audit.append({ ...entry, details: `${n}\n` });
    t.same([await auditChain.seal(3), await auditChain.seal(3), await auditChain.seal(3)], [3, 2, 0]);
    const links = await auditChain.links(before, 3);
    t.same(
      links.map(({ seq }) => seq - before),
      [1n, 2n, 3n],
    );
    t.same(new Set(links.map(({ recordId, content }) => recordId === content?.id)), new Set([true]));
    t.match(links[0]?.content, { ...entry, createdAtMicros: /^\d{16}$/ });
    t.same(await auditChain.links(before + 5n, 3), []);
    t.same(await checkAudit(auditChain, null), { kind: 'whole', head: await auditChain.head() });
  });

  await t.test(`${name}: unsealed records are no fault, and an earlier head stays valid`, async (t) => {
    await sealAll();
    const head = await auditChain.head();
    await audit.append({ ...entry, details: 'waits' });
    t.equal((await checkAudit(auditChain, head)).kind, 'whole');
    await sealAll();
    t.equal((await checkAudit(auditChain, head)).kind, 'whole');
    const other = { seq: head?.seq ?? 0n, hash: 'f'.repeat(64) };
    t.same(await checkAudit(auditChain, other), { kind: 'other_head', expected: other }, headText(other));
  });

  await t.test(`${name}: concurrent sealers seal nothing twice`, async (t) => {
    for (let n = 0; n < 40; n += 1) await audit.append({ ...entry, details: `${n}` });
    await Promise.all(Array.from({ length: 8 }, () => auditChain.seal(7)));
    await sealAll();
    t.equal((await checkAudit(auditChain, null)).kind, 'whole');
  });

  await t.test(`${name}: a rolled-back record is never sealed`, async (t) => {
    await sealAll();
    const head = await auditChain.head();
    const failing = storage.inTransaction(async (tx) => {
      await tx.audit.append({ ...entry, details: 'undone' });
      throw new Error('no');
    });
    await t.rejects(failing);
    await sealAll();
    t.same(await auditChain.head(), head);
  });
}
