import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import {
  ADMINISTERED_SORTS,
  type AdministeredFilter,
} from '../../../../src/ports/containers/administration/administered-container-repository.ts';
import { UnknownPage } from '../../../../src/ports/pagination.ts';
import type { Storage } from '../../../../src/ports/storage.ts';
import { aNewContainer, storedContainer, storedUser } from '../../../support/database/stored.ts';
import { anOperation } from '../operations.ts';

/** Guarantees of the list of all users' containers. */
export async function administeredContainerContract(name: string, storage: Storage): Promise<void> {
  const { administeredContainers, containers, diskUse, operations, userRemovals } = storage.repositories;
  const NAME_ORDER = { by: 'name', isReverse: false } as const;

  /** Two owners whose containers alone have the word in their names. */
  async function aScene() {
    const word = randomUUID().slice(0, 8);
    const [ada, bob] = [await storedUser(storage), await storedUser(storage)];
    const made = [];
    for (const [index, owner] of [ada, bob, ada, bob, ada].entries()) {
      const box = aNewContainer(owner.id);
      made.push(await containers.insert({ ...box, name: `${'CaBeD'[index]}-${word}` }));
    }
    const [first] = made;
    if (first === undefined) throw new Error('none was made');
    await containers.changeState(first.dbId, ['creating'], {
      state: 'running',
      runtimeId: randomBytes(32).toString('hex'),
    });
    await containers.touch(first.dbId);
    const found = async (filter: Partial<AdministeredFilter> = {}, sort: object = NAME_ORDER) => {
      const request = { after: null, limit: 50, sort: { ...NAME_ORDER, ...sort } };
      const page = await administeredContainers.page(request, { isDeleted: false, text: word, ...filter });
      t.equal(page.total, page.items.length);
      return page.items.map(({ container }) => container);
    };
    return { word, ada, bob, made, first, found };
  }
  const initials = (of: readonly { readonly name: string }[]): string =>
    of.map((one) => one.name[0]).join('');

  await t.test(`${name}: administrators find the containers of all by owner, state and text`, async (t) => {
    const { ada, first, found } = await aScene();
    t.equal(initials(await found()), 'aBCDe');
    t.match(await found(), [{}, {}, { dbId: first.dbId, ownerUsername: ada.username }]);
    t.equal(initials(await found({ owner: ada.id })), 'BCD');
    t.equal(initials(await found({ owner: ada.username.toUpperCase() })), 'BCD');
    t.equal(initials(await found({ owner: ada.username.slice(0, -1) })), '', 'the full name');
    t.equal(initials(await found({ state: 'running' })), 'C');
    t.equal(initials(await found({ dbIds: [first.dbId, randomUUID(), '-'.repeat(36)] })), 'C');
    t.equal(initials(await found({ dbIds: [] })), '');
    t.equal(initials(await found({ text: ada.username, owner: ada.id })), 'BCD');
    t.equal(initials(await found({ text: '%' })), '', 'not a pattern');
    t.same(await found({ isDeleted: true }), []);
  });

  await t.test(`${name}: only what can be restored to somebody is listed as deleted`, async (t) => {
    const { ada, first, made, found } = await aScene();
    for (const { dbId } of made.slice(0, 2))
      await containers.changeState(dbId, ['running', 'creating'], { state: 'deleted' });
    t.match(
      await found({ isDeleted: true }),
      [{ dbId: first.dbId, state: 'deleted' }],
      'not what never came up',
    );
    t.equal(initials(await found()), 'BDe');
    await userRemovals.begin({
      userId: ada.id,
      plan: { kind: 'delete' },
      requestedBy: ada.id,
      origin: { ipAddress: '', userAgent: '' },
    });
    await userRemovals.finish(ada.id);
    t.same(await found({ isDeleted: true }), [], 'its owner is gone');
  });

  await t.test(`${name}: every order has pages without gap or repeat`, async (t) => {
    const { word, found } = await aScene();
    for (const by of ADMINISTERED_SORTS) {
      for (const isReverse of [false, true]) {
        const all = (await found({}, { by, isReverse })).map(({ dbId }) => dbId);
        const seen: string[] = [];
        let after: string | null = null;
        do {
          const request = { after, limit: 2, sort: { by, isReverse } };
          const { items, next, total } = await administeredContainers.page(request, {
            isDeleted: false,
            text: word,
          });
          seen.push(...items.map(({ container }) => container.dbId));
          t.equal(total, 5);
          after = next;
        } while (after !== null);
        t.same(seen, all, `${by} ${isReverse}`);
        t.equal(new Set(seen).size, 5);
      }
    }
    for (const isReverse of [false, true])
      t.equal(
        initials(await found({}, { by: 'last_used_at', isReverse }))[0],
        'C',
        'a missing time comes last',
      );
    const [small, large] = (await found({}, { by: 'created_at' })).map(({ dbId }) => dbId);
    await diskUse.record(small ?? '', { usedMb: 9 });
    await diskUse.record(large ?? '', { usedMb: 10 });
    for (const [isReverse, expected] of [
      [false, [small, large]],
      [true, [large, small]],
    ] as const) {
      const first = (await found({}, { by: 'disk', isReverse })).slice(0, 2).map(({ dbId }) => dbId);
      t.same(first, expected, 'by number, and what was not measured comes last');
    }
    const request = { limit: 2, sort: { by: 'created_at', isReverse: false } } as const;
    for (const after of ['x', Buffer.from(`${'0'.repeat(32)}now`).toString('base64url')])
      await t.rejects(administeredContainers.page({ ...request, after }, { isDeleted: false }), UnknownPage);
  });

  await t.test(`${name}: a transfer in progress counts for the new owner`, async (t) => {
    const [ada, bob] = [await storedUser(storage), await storedUser(storage)];
    const { dbId } = await storedContainer(storage, ada.id);
    const owner = randomUUID();
    const transfer = { ...anOperation(dbId, ada.id, owner), kind: 'transfer', newOwnerId: bob.id } as const;
    await operations.begin(transfer, 60);
    t.match(await operations.active(dbId), { kind: 'transfer', newOwnerId: bob.id });
    t.same([await containers.countLive(ada.id), await containers.countLive(bob.id)], [1, 1]);
    await operations.finish(transfer.id, owner, 'failed');
    t.equal(await containers.countLive(bob.id), 0);
  });
}
