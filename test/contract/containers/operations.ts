import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { StoredOperation } from '../../../src/ports/containers/operation-repository.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { aNewContainer, storedUser } from '../../support/database/stored.ts';
import { valuesOf } from '../../support/values.ts';

/** Longer than a busy machine needs for all of it. */
const LEASE_SECONDS = 600;
const resources = { memoryMb: 256, cpuMillicores: 100, diskMb: 512 };

export const anOperation = (
  dbId: string,
  requestedBy: string,
  leaseOwner: string,
): Omit<StoredOperation, 'outcome'> => ({
  id: randomUUID(),
  dbId,
  kind: 'update',
  phase: 'forward',
  before: { state: 'running', runtimeId: 'a'.repeat(64), generation: 1, resources },
  target: { name: 'dev', resources },
  verified: false,
  unfitted: false,
  wasDown: false,
  volumeKept: null,
  requestedBy,
  origin: { ipAddress: '127.0.0.1', userAgent: 'test' },
  reason: null,
  carryOver: false,
  freshRuntimeId: null,
  layerImage: null,
  measured: false,
  leftBehind: null,
  refusal: null,
  leaseOwner,
  leaseNumber: 1,
});

/** Guarantees of stored operations. `advance` lets that many seconds pass for leases. */
export async function operationRepositoryContract(
  name: string,
  storage: Storage,
  advance: (seconds: number) => Promise<void>,
): Promise<void> {
  const { operations, containers } = storage.repositories;
  const userId = (await storedUser(storage)).id;
  const aRow = async (): Promise<string> => (await containers.insert(aNewContainer(userId))).dbId;

  await t.test(`${name}: OperationRepository`, async (t) => {
    await t.test('a container has at most one active operation, also under concurrency', async (t) => {
      const dbId = await aRow();
      const owner = randomUUID();
      const begun = await Promise.all(
        [1, 2, 3].map(() => operations.begin(anOperation(dbId, userId, owner), LEASE_SECONDS)),
      );
      t.same(begun.filter(Boolean).length, 1);
      const active = await operations.active(dbId);
      t.match(active, { dbId, kind: 'update', phase: 'forward', outcome: null, before: { generation: 1 } });
      t.ok((await operations.busy()).has(dbId));
      t.ok(await operations.finish(active?.id ?? '', owner, 'done'));
      t.equal(await operations.active(dbId), null);
      t.match(await operations.find(active?.id ?? ''), { outcome: 'done' });
      t.ok(await operations.begin(anOperation(dbId, userId, owner), LEASE_SECONDS), 'and then another one');
    });

    await t.test('a loss report is stored, and so is its absence', async (t) => {
      const owner = randomUUID();
      const operation = { ...anOperation(await aRow(), userId, owner), carryOver: true };
      await operations.begin(operation, LEASE_SECONDS);
      t.match(await operations.find(operation.id), { carryOver: true, measured: false, leftBehind: null });
      const leftBehind = { packages: [], packageCount: 0, files: [], layerBytes: 7, complete: true };
      await operations.record(operation.id, owner, {
        measured: true,
        leftBehind,
        layerImage: 'carried:g2',
      });
      t.match(await operations.find(operation.id), {
        measured: true,
        leftBehind,
        layerImage: 'carried:g2',
      });
      await operations.record(operation.id, owner, { step: 'on' });
      t.match(await operations.find(operation.id), { measured: true, leftBehind }, 'other progress keeps it');
      await operations.record(operation.id, owner, { leftBehind: null });
      t.match(await operations.find(operation.id), { measured: true, leftBehind: null });
    });

    await t.test('why one failed is stored, and stays', async (t) => {
      const owner = randomUUID();
      const operation = anOperation(await aRow(), userId, owner);
      await operations.begin(operation, LEASE_SECONDS);
      t.match(await operations.find(operation.id), { refusal: null });
      const refusal = { code: 'container_unresponsive', retryAfterSeconds: 5 } as const;
      await operations.record(operation.id, owner, { phase: 'back', refusal });
      await operations.finish(operation.id, owner, 'failed');
      t.match(await operations.find(operation.id), { outcome: 'failed', refusal });
    });

    await t.test("only the lease's owner writes", async (t) => {
      const dbId = await aRow();
      const owner = randomUUID();
      const operation = anOperation(dbId, userId, owner);
      await operations.begin(operation, LEASE_SECONDS);
      t.ok(
        await operations.record(operation.id, owner, {
          step: 'x',
          verified: true,
          wasDown: true,
          freshRuntimeId: 'f',
        }),
      );
      t.notOk(await operations.record(operation.id, randomUUID(), { phase: 'back' }));
      t.notOk(await operations.finish(operation.id, randomUUID(), 'done'));
      t.match(await operations.find(operation.id), { phase: 'forward', verified: true, freshRuntimeId: 'f' });
      t.ok(await operations.finish(operation.id, owner, 'failed', { volumeKept: true }));
      t.match(await operations.find(operation.id), {
        outcome: 'failed',
        volumeKept: true,
        verified: true,
        wasDown: true,
      });
      t.notOk(
        await operations.record(operation.id, owner, { phase: 'back' }),
        'and nobody once it is finished',
      );
    });

    await t.test('a committed operation neither goes back nor fails, and can only be finished', async (t) => {
      const owner = randomUUID();
      const { id, ...rest } = anOperation(await aRow(), userId, owner);
      await operations.begin({ id, ...rest }, LEASE_SECONDS);
      t.ok(await operations.record(id, owner, { phase: 'committed', freshRuntimeId: 'f'.repeat(64) }));
      t.notOk(await operations.record(id, owner, { phase: 'back', freshRuntimeId: null }));
      t.notOk(await operations.record(id, owner, { phase: 'forward' }));
      t.notOk(await operations.finish(id, owner, 'failed'));
      t.match(await operations.find(id), {
        phase: 'committed',
        outcome: null,
        freshRuntimeId: 'f'.repeat(64),
      });
      t.ok(await operations.record(id, owner, { phase: 'committed', step: 'remove_old' }));
      t.ok(await operations.finish(id, owner, 'done'));
    });

    await t.test('an operation that rolls back stays so until it commits after all or fails', async (t) => {
      const owner = randomUUID();
      for (const end of [
        (id: string) => operations.finish(id, owner, 'failed'),
        (id: string) => operations.finish(id, owner, 'done', { phase: 'committed' }),
      ]) {
        const operation = anOperation(await aRow(), userId, owner);
        await operations.begin(operation, LEASE_SECONDS);
        t.ok(await operations.record(operation.id, owner, { phase: 'back' }));
        t.ok(await operations.record(operation.id, owner, { phase: 'back', step: 'remove_fresh' }));
        t.ok(await end(operation.id));
      }
    });

    await t.test('an expired lease is taken by exactly one process, a renewed one by none', async (t) => {
      const [first, second, third] = [randomUUID(), randomUUID(), randomUUID()];
      const abandoned = anOperation(await aRow(), userId, first);
      const kept = anOperation(await aRow(), userId, second);
      const forgotten = anOperation(await aRow(), userId, second);
      await operations.begin(abandoned, 60);
      await operations.begin(kept, 60);
      await operations.begin(forgotten, 60);
      t.same(await operations.takeOver(third, LEASE_SECONDS, false), [], 'not before its end');
      await operations.renew(second, [kept.id, abandoned.id], LEASE_SECONDS);
      await advance(90);
      const taken = await Promise.all([
        operations.takeOver(third, LEASE_SECONDS, false),
        operations.takeOver(third, LEASE_SECONDS, false),
      ]);
      t.same(
        taken
          .flat()
          .map(({ id, leaseOwner }) => [id, leaseOwner])
          .toSorted(),
        [
          [abandoned.id, third],
          [forgotten.id, third],
        ].toSorted(),
        'also one whose owner lives and does not work on it',
      );
      t.notOk(await operations.record(abandoned.id, first, { phase: 'back' }), 'the old holder is out');
      await operations.release(kept.id, second, 1);
      t.same(
        valuesOf(await operations.takeOver(third, LEASE_SECONDS, false), 'id'),
        [kept.id],
        'one that is given back is free at once',
      );
      await operations.release(kept.id, third, 1);
      t.same(
        await operations.takeOver(second, LEASE_SECONDS, false),
        [],
        'no late release ends a later lease',
      );
      t.match(await operations.find(kept.id), { leaseOwner: third, leaseNumber: 2 });
      await operations.release(kept.id, third, 2);
      t.match(await operations.takeOver(third, LEASE_SECONDS, false), [{ id: kept.id, leaseNumber: 3 }]);
    });
  });
}
