import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { WarmPoolEngine } from '../../../src/ports/containers/container-images.ts';
import type { NewMember } from '../../../src/ports/containers/warm-pool-repository.ts';
import type { Storage } from '../../../src/ports/storage.ts';

const resources = { memoryMb: 512, cpuMillicores: 500, diskMb: 2560 };

const aMember = (over: Partial<NewMember> = {}): NewMember => {
  const dbId = randomUUID();
  const { node, image, imageId } = wanted;
  return { dbId, node, image, imageId, resources, volume: `ws-${dbId}`, ...over };
};

const wanted = { node: 'local', image: 'berth/debian:12', imageId: 'sha256:a', diskMb: null };

/** Guarantees of the stored warm pool. `advance` lets that many seconds pass for leases. */
export async function warmPoolRepositoryContract(
  name: string,
  storage: Storage,
  advance: (seconds: number) => Promise<void>,
): Promise<void> {
  const { warmPool } = storage.repositories;
  const makers = new Map<string, string>();
  const begin = async (member: NewMember, size: number, owner: string, leaseSeconds: number) => {
    makers.set(member.dbId, owner);
    return await warmPool.begin(member, size, owner, leaseSeconds);
  };
  const empty = async (): Promise<void> => {
    for (const { dbId } of await warmPool.list(randomUUID(), false)) {
      const owner = makers.get(dbId) ?? '';
      await warmPool.retire(dbId, owner, 60);
      await warmPool.forget(dbId, owner);
    }
  };
  const ready = async (owner: string, over: Partial<NewMember> = {}): Promise<string> => {
    const member = aMember(over);
    await begin(member, 100, owner, 60);
    const runtimeId = member.dbId.replaceAll('-', '').repeat(2);
    await warmPool.markReady(member.dbId, owner, { runtimeId, quota: 'hard' });
    return member.dbId;
  };

  await t.test(`${name}: WarmPoolRepository`, async (t) => {
    t.afterEach(empty);

    await t.test('concurrent processes never make more members than wanted', async (t) => {
      const begun = await Promise.all(Array.from({ length: 6 }, () => begin(aMember(), 2, randomUUID(), 60)));
      t.equal(begun.filter(Boolean).length, 2);
      t.equal((await warmPool.ids()).size, 2);
    });

    await t.test('a ready member goes to exactly one claim, the oldest first', async (t) => {
      const owner = randomUUID();
      const made = [await ready(owner), await ready(owner), await ready(owner)];
      const claimed = await Promise.all(
        Array.from({ length: 8 }, () => storage.inTransaction((tx) => tx.warmPool.claim(wanted))),
      );
      const ids = claimed.flatMap((one) => (one === null ? [] : [one.dbId]));
      t.same(ids.toSorted(), made.toSorted(), 'each once, and nobody waited');
      t.match(
        claimed.find((one) => one?.dbId === made[0]),
        { state: 'ready', resources, volume: `ws-${made[0]}`, quota: 'hard' },
      );
      t.equal((await warmPool.ids()).size, 0);
    });

    await t.test('a claim takes only a fitting member', async (t) => {
      const owner = randomUUID();
      await begin(aMember(), 100, owner, 60);
      await ready(owner);
      for (const other of [{ node: 'x' }, { image: 'x' }, { imageId: 'x' }, { diskMb: 512 }]) {
        t.equal(await warmPool.claim({ ...wanted, ...other }), null, Object.keys(other).join());
      }
      t.ok(await warmPool.claim({ ...wanted, diskMb: 2560 }));
      t.equal(await warmPool.claim(wanted), null, 'not what is still being made');
    });

    await t.test('a member is never both claimed and removed', async (t) => {
      const owner = randomUUID();
      const [first, second] = [await ready(owner), await ready(owner)];
      const remover = randomUUID();
      t.ok(await warmPool.retire(first, remover, 60), 'a ready one by anybody');
      makers.set(first, remover);
      t.match(await warmPool.claim(wanted), { dbId: second });
      t.notOk(await warmPool.retire(second, owner, 60));
      t.notOk(await warmPool.retire(first, randomUUID(), 60), 'nor by two');
      await warmPool.forget(first, randomUUID());
      t.ok((await warmPool.ids()).has(first), 'only its remover forgets it');
    });

    await t.test("a killed process's members are recognised as abandoned", async (t) => {
      const [owner, other] = [randomUUID(), randomUUID()];
      const member = aMember();
      await begin(member, 1, owner, 60);
      t.match(await warmPool.list(other, true), [
        { state: 'making', abandoned: false, runtimeId: null, quota: null },
      ]);
      t.match(await warmPool.list(owner, true), [{ abandoned: true }], 'by its next run at once');
      t.notOk(await warmPool.retire(member.dbId, other, 60), 'by others not before the lease is over');
      await advance(90);
      t.match(await warmPool.list(other, false), [{ abandoned: true }]);
      t.ok(await warmPool.retire(member.dbId, other, 60));
      makers.set(member.dbId, other);
      const made = { runtimeId: 'a'.repeat(64), quota: null };
      t.notOk(await warmPool.markReady(member.dbId, owner, made), 'the old maker is out');
    });
  });
}

export type OpenWarmPool = {
  readonly warmPool: WarmPoolEngine;
  readonly image: string;
  /** A reference that the engine does not have. */
  readonly absent: string;
};

/** Guarantees of pool members on an engine. */
export async function warmPoolEngineContract(name: string, given: OpenWarmPool): Promise<void> {
  const { warmPool, image, absent } = given;
  await t.test(`${name}: WarmPoolEngine`, async (t) => {
    await t.test('an image has an id while it exists', async (t) => {
      const named = await warmPool.namedImage(image);
      t.match(named, { id: /./, isOlder: false });
      t.same(await warmPool.namedImage(image), named);
      t.equal(await warmPool.namedImage(absent), null);
    });
  });
}
