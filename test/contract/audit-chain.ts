import t from 'tap';
import { checkAudit } from '../../src/app/audit-check.ts';
import { headText } from '../../src/domain/audit-chain.ts';
import type { Storage } from '../../src/ports/repositories.ts';

/** What sealing must guarantee. */
export async function auditChainContract(name: string, storage: Storage): Promise<void> {
  const { audit, auditChain } = storage.repositories;
  const entry = { userId: null, action: 'login', ipAddress: '::1', userAgent: 'agent "🚢"' } as const;
  const sealAll = async (): Promise<void> => {
    for (let n = 0; n < 1_000 && (await auditChain.seal(100)) > 0; n += 1);
  };

  await t.test(`${name}: records are sealed once, a part at a time, and the chain holds`, async (t) => {
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

  await t.test(`${name}: what waits to be sealed is no fault, and a head once seen stays`, async (t) => {
    await sealAll();
    const head = await auditChain.head();
    await audit.append({ ...entry, details: 'waits' });
    t.equal((await checkAudit(auditChain, head)).kind, 'whole');
    await sealAll();
    t.equal((await checkAudit(auditChain, head)).kind, 'whole');
    const other = { seq: head?.seq ?? 0n, hash: 'f'.repeat(64) };
    t.same(await checkAudit(auditChain, other), { kind: 'other_head', expected: other }, headText(other));
  });

  await t.test(`${name}: those who seal at once seal nothing twice`, async (t) => {
    for (let n = 0; n < 40; n += 1) await audit.append({ ...entry, details: `${n}` });
    await Promise.all(Array.from({ length: 8 }, () => auditChain.seal(7)));
    await sealAll();
    t.equal((await checkAudit(auditChain, null)).kind, 'whole');
  });

  await t.test(`${name}: what is undone is never sealed`, async (t) => {
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
