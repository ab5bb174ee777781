import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { ContainerEngine } from '../../../src/ports/containers/container-engine.ts';
import type { WarmPoolEngine } from '../../../src/ports/containers/container-images.ts';
import type { RuntimeHandle } from '../../../src/ports/containers/container-runtime.ts';
import type { NewMember } from '../../../src/ports/containers/warm-pool-repository.ts';
import type { Storage } from '../../../src/ports/storage.ts';
import { aSpec } from '../../support/engine/container.ts';

const resources = { memoryMb: 512, cpuMillicores: 500, diskMb: 2560 };

const aMember = (over: Partial<NewMember> = {}): NewMember => {
  const dbId = randomUUID();
  const { node, image, imageId } = wanted;
  return { dbId, node, image, imageId, resources, volume: `ws-${dbId}`, ...over };
};

const wanted = {
  node: 'local',
  image: 'berth/debian:12',
  imageId: 'sha256:a',
  quota: 'hard',
  diskMb: null,
} as const;

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
    for (const { dbId, state } of await warmPool.list(randomUUID(), false)) {
      const owner = makers.get(dbId) ?? '';
      await warmPool.retire({ dbId, state }, owner, 60);
      await warmPool.forget({ dbId, state: 'removing' }, owner);
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
      const claimed = await Promise.all(Array.from({ length: 8 }, () => warmPool.reserve(wanted, owner, 60)));
      const ids = claimed.flatMap((one) => (one === null ? [] : [one.dbId]));
      t.same(ids.toSorted(), made.toSorted(), 'each once, and nobody waited');
      t.match(
        claimed.find((one) => one?.dbId === made[0]),
        { state: 'claiming', resources, volume: `ws-${made[0]}`, quota: 'hard' },
      );
      t.same([...(await warmPool.ids())].sort(), made.toSorted(), 'it is in the pool until the create');
      t.ok(await begin(aMember(), 1, owner, 60), 'but does not count any more');
      const [first = ''] = made;
      const claiming = { dbId: first, state: 'claiming' } as const;
      t.notOk(await warmPool.forget(claiming, randomUUID()), 'only its claimer takes it out');
      t.ok(await storage.inTransaction((tx) => tx.warmPool.forget(claiming, owner)));
      t.notOk((await warmPool.ids()).has(first));
      t.notOk(await warmPool.forget(claiming, owner));
    });

    await t.test(
      'what a claimer leaves behind is seen and can be removed, at first by nobody else',
      async (t) => {
        const [owner, claimer, other] = [randomUUID(), randomUUID(), randomUUID()];
        const dbId = await ready(owner);
        await warmPool.reserve(wanted, claimer, 60);
        makers.set(dbId, claimer);
        t.match(await warmPool.list(other, true), [{ dbId, state: 'claiming', abandoned: false }]);
        const claiming = { dbId, state: 'claiming' } as const;
        t.notOk(await warmPool.retire(claiming, other, 60));
        t.notOk(await warmPool.leave(claiming, other));
        t.ok((await warmPool.ids()).has(dbId));
        await advance(90);
        t.match(await warmPool.list(other, true), [{ abandoned: true }]);
        t.ok(await warmPool.retire(claiming, other, 60));
        makers.set(dbId, other);
        t.notOk(await warmPool.forget(claiming, claimer), 'then it is too late for the claim');
      },
    );

    await t.test('a member that may be in use leaves the pool alone', async (t) => {
      const owner = randomUUID();
      const [left, kept] = [await ready(owner), await ready(owner)];
      t.ok(await warmPool.leave({ dbId: left, state: 'ready' }, randomUUID()));
      t.same([...(await warmPool.ids())], [kept]);
    });

    await t.test('a lease is renewed by its owner', async (t) => {
      const [owner, other] = [randomUUID(), randomUUID()];
      const member = aMember();
      await begin(member, 1, owner, 60);
      await advance(50);
      await warmPool.renew(member.dbId, other, 600);
      await warmPool.renew(member.dbId, owner, 60);
      await advance(50);
      t.match(await warmPool.list(other, false), [{ abandoned: false }]);
      await advance(50);
      t.match(await warmPool.list(other, false), [{ abandoned: true }], 'for as long as asked');
    });

    await t.test('a claim takes only a fitting member', async (t) => {
      const owner = randomUUID();
      await begin(aMember(), 100, owner, 60);
      await ready(owner);
      const others = [
        { node: 'x' },
        { image: 'x' },
        { imageId: 'x' },
        { quota: 'soft' },
        { diskMb: 512 },
      ] as const;
      for (const other of others) {
        const claim = { ...wanted, ...other };
        t.equal(await warmPool.reserve(claim, owner, 60), null, Object.keys(other).join());
      }
      t.ok(await warmPool.reserve({ ...wanted, diskMb: 2560 }, owner, 60));
      t.equal(await warmPool.reserve(wanted, owner, 60), null, 'not what is still being made');
    });

    await t.test('a member is never both claimed and removed', async (t) => {
      const owner = randomUUID();
      const [first, second] = [await ready(owner), await ready(owner)];
      const remover = randomUUID();
      const claimed = { dbId: second, state: 'ready' } as const;
      t.ok(await warmPool.retire({ dbId: first, state: 'ready' }, remover, 60), 'a ready one by anybody');
      makers.set(first, remover);
      t.match(await warmPool.reserve(wanted, remover, 60), { dbId: second });
      makers.set(second, remover);
      for (const process of [owner, remover]) {
        t.notOk(await warmPool.retire(claimed, process, 60), 'nor by the process that claims it');
        t.notOk(await warmPool.leave(claimed, process));
      }
      const removing = { dbId: first, state: 'removing' } as const;
      t.notOk(await warmPool.retire(removing, randomUUID(), 60), 'nor by two');
      t.notOk(await warmPool.forget({ dbId: first, state: 'claiming' }, remover), 'no create takes it');
      await warmPool.forget(removing, randomUUID());
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
      const making = { dbId: member.dbId, state: 'making' } as const;
      t.notOk(await warmPool.retire(making, other, 60), 'by others not before the lease is over');
      await advance(90);
      t.match(await warmPool.list(other, false), [{ abandoned: true }]);
      t.ok(await warmPool.retire(making, other, 60));
      makers.set(member.dbId, other);
      const made = { runtimeId: 'a'.repeat(64), quota: null };
      t.notOk(await warmPool.markReady(member.dbId, owner, made), 'the old maker is out');
    });
  });
}

/** What an engine keeps of its members, whatever becomes of the database. */
export async function poolMemberContract(
  name: string,
  { runtime, image }: { readonly runtime: ContainerEngine; readonly image: string },
): Promise<void> {
  await t.test(`${name}: members of the warm pool`, async (t) => {
    const spec = aSpec(image, { ownerId: null, operationId: null, isMember: true });
    const { dbId, volume } = spec;
    t.equal(await runtime.findMember(dbId), null);
    const member = await runtime.create(spec);
    await runtime.start(member);
    const usual = await runtime.create(aSpec(image));
    const listed = async (handle: RuntimeHandle) =>
      (await runtime.list()).find(({ handle: { runtimeId } }) => runtimeId === handle.runtimeId);
    t.match(await listed(member), { dbId, generation: 1, state: 'running', isMember: true });
    t.same(await runtime.findMember(dbId), member);
    t.same(await runtime.create(spec), member, 'a repeated create makes no second one');

    t.notOk(await runtime.claim(usual), 'what a create has made is no member');
    t.equal((await listed(usual))?.isMember, undefined);
    const claims = await Promise.all([1, 2, 3].map(() => runtime.claim(member)));
    t.equal(claims.filter(Boolean).length, 1, 'one claim succeeds');
    t.notOk(await runtime.claim(member), 'and never another');
    const claimed = await listed(member);
    t.match(claimed, { dbId, generation: 1, state: 'running' });
    t.equal(claimed?.isMember, undefined);
    t.equal(await runtime.findMember(dbId), null);
    t.same(await runtime.find(dbId, 1), member, 'it is a container like any other');
    t.match(await runtime.observe(member), { kind: 'running' }, 'and has run on');
    await runtime.stop(member, 1);
    await runtime.start(member);
    t.equal(await runtime.findMember(dbId), null, 'for good');

    await runtime.remove(member);
    t.notOk(await runtime.claim(member));
    await runtime.remove(usual);
    await runtime.removeVolume(volume);
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
