import t from 'tap';
import { AGENT_NODE } from '../../../../src/domain/containers/agents/agent.ts';
import { endOf, nextLifetimeStep } from '../../../../src/domain/containers/lifetime/lifetime-end.ts';
import type { LifetimeChange } from '../../../../src/ports/containers/lifetime/lifetime-repository.ts';
import type { Storage } from '../../../../src/ports/storage.ts';
import { NOBODY, storedContainer, storedUser } from '../../../support/database/stored.ts';
import { aTier } from '../../../support/samples/samples.ts';
import { anOperation } from '../operations.ts';

/** Guarantees of stored lifetimes. */
export async function lifetimeRepositoryContract(name: string, storage: Storage): Promise<void> {
  const { containers, lifetimes, operations } = storage.repositories;
  const ending = async (seconds: number, dbId: string): Promise<boolean> =>
    (await lifetimes.listEnding(seconds)).some(({ container }) => container.dbId === dbId);

  await t.test(`${name}: a lifetime is stored by seconds from now, and absent fields stay`, async (t) => {
    const box = await storedContainer(storage, (await storedUser(storage)).id);
    t.match(box, {
      labels: {},
      lifetime: { isEphemeral: false, endsAt: null, idleSeconds: null, onIdle: 'stop' },
    });
    const labels = { team: 'a "b" \' ; --', run: '7' };
    const changed = await lifetimes.change(box.dbId, { ttlSeconds: 3_600, isEphemeral: true, labels });
    t.match(changed, { labels, lifetime: { isEphemeral: true, endsAt: Date, idleSeconds: null } });
    const kept = await lifetimes.change(box.dbId, { idleSeconds: 600, onIdle: 'delete', keepSeconds: 60 });
    t.match(kept?.lifetime, { isEphemeral: true, idleSeconds: 600, onIdle: 'delete', keptUntil: Date });
    t.same(kept?.lifetime.endsAt, changed?.lifetime.endsAt);
    t.match(await lifetimes.change(box.dbId, { ttlSeconds: null }), { labels, lifetime: { endsAt: null } });
    t.same((await containers.findAny(box.dbId))?.labels, labels);
    t.equal(await lifetimes.change(NOBODY, { ttlSeconds: 60 }), null);
    t.same(await lifetimes.change(box.dbId, {}), await containers.findAny(box.dbId), 'nothing changes');
    t.equal(await lifetimes.change(NOBODY, {}), null);
  });

  await t.test(`${name}: a start is limited to what the owner's tier allows, and only then`, async (t) => {
    const { catalogue, users } = storage.repositories;
    const owner = await storedUser(storage);
    const box = await storedContainer(storage, owner.id);
    t.equal(await lifetimes.limitToTier(box.dbId), null, 'this tier has no limit');
    const tier = {
      ...aTier({ name: `t${owner.id.slice(0, 8)}` }),
      maxTtlSeconds: 3_600,
      maxIdleSeconds: 600,
    };
    await catalogue.editing.tier.insert(tier);
    await users.change(owner.id, { tier: tier.name });
    const limited = async (change: LifetimeChange) => {
      await lifetimes.change(box.dbId, change);
      const lifetime = (await lifetimes.limitToTier(box.dbId))?.lifetime;
      const now = (await lifetimes.findForUpdate(box.dbId))?.now ?? new Date(0);
      const seconds = ((lifetime?.endsAt?.getTime() ?? 0) - now.getTime()) / 1_000;
      const keptSeconds = ((lifetime?.keptUntil?.getTime() ?? now.getTime()) - now.getTime()) / 1_000;
      const rounded = (value: number): number => Math.round(value / 100) * 100;
      return {
        seconds: rounded(seconds),
        idleSeconds: lifetime?.idleSeconds,
        ...(keptSeconds > 0 ? { keptSeconds: rounded(keptSeconds) } : {}),
      };
    };
    t.same(await limited({ onIdle: 'stop' }), { seconds: 3_600, idleSeconds: 600 }, 'what is missing');
    t.same(await limited({ ttlSeconds: 1_200, idleSeconds: 60 }), { seconds: 1_200, idleSeconds: 60 });
    t.same(await limited({ ttlSeconds: 9_000, idleSeconds: 900 }), { seconds: 3_600, idleSeconds: 600 });
    t.same(await limited({ ttlSeconds: -60 }), { seconds: 3_600, idleSeconds: 600 }, 'a spent end');
    const kept = { seconds: 3_600, idleSeconds: 600 };
    t.same(await limited({ keepSeconds: 1_200 }), { ...kept, keptSeconds: 1_200 });
    t.same(await limited({ keepSeconds: 9_000 }), { ...kept, keptSeconds: 3_600 });
    t.equal(await lifetimes.limitToTier(NOBODY), null);
    const agent = await storedContainer(storage, owner.id, { node: AGENT_NODE });
    t.equal(await lifetimes.limitToTier(agent.dbId), null, 'an agent ends by itself alone');
  });

  await t.test(`${name}: a use is recorded by kind, for containers with an idle time`, async (t) => {
    const owner = await storedUser(storage);
    const [box, other] = [await storedContainer(storage, owner.id), await storedContainer(storage, owner.id)];
    await lifetimes.change(box.dbId, { idleSeconds: 60 });
    const uses = [
      { dbId: box.dbId, kind: 'command' },
      { dbId: other.dbId, kind: 'command' },
      { dbId: NOBODY, kind: 'file' },
      { dbId: box.dbId, kind: 'file' },
      { dbId: box.dbId, kind: 'command' },
    ] as const;
    await Promise.all([
      lifetimes.noteUses(uses),
      lifetimes.noteUses(uses.toReversed()),
      lifetimes.noteUses([]),
    ]);
    const activity = await lifetimes.activity(box.dbId);
    t.same(activity.map(({ kind }) => kind).sort(), ['command', 'file']);
    t.same(await lifetimes.activity(other.dbId), []);
    const newest = Math.max(...activity.map(({ lastAt }) => lastAt.getTime()));
    t.equal((await containers.findAny(box.dbId))?.lifetime.activeAt?.getTime(), newest);
  });

  await t.test(`${name}: those that end soon are listed, unless an operation is active`, async (t) => {
    const owner = await storedUser(storage);
    const box = await storedContainer(storage, owner.id);
    const { dbId } = box;
    t.notOk(await ending(999_999, dbId), 'nothing ends it');
    await lifetimes.change(dbId, { idleSeconds: 600 });
    t.same([await ending(310, dbId), await ending(610, dbId)], [false, true]);
    await lifetimes.change(dbId, { ttlSeconds: 200 });
    t.ok(await ending(310, dbId));
    await lifetimes.change(dbId, { keepSeconds: 400 });
    t.same([await ending(310, dbId), await ending(410, dbId)], [false, true], 'it is kept');
    await lifetimes.change(dbId, { keepSeconds: 0 });
    await containers.changeState(dbId, ['running'], { state: 'stopped' });
    t.notOk(await ending(310, dbId), 'a stopped one does not end');
    await lifetimes.change(dbId, { isEphemeral: true });
    t.ok(await ending(310, dbId), 'but is deleted when it is ephemeral');
    await lifetimes.change(dbId, { isEphemeral: false, ttlSeconds: -60, idleSeconds: null });
    await containers.changeState(dbId, ['stopped'], { state: 'running', started: true });
    t.notOk(await ending(310, dbId), 'an end before its start is over');
    await lifetimes.change(dbId, { ttlSeconds: 200 });
    t.ok(await ending(310, dbId));
    const operation = anOperation(dbId, owner.id, NOBODY);
    await operations.begin(operation, 600);
    t.notOk(await ending(310, dbId));
    await operations.finish(operation.id, NOBODY, 'done');
    await containers.changeState(dbId, ['running'], { state: 'deleted' });
    t.notOk(await ending(310, dbId));
  });

  await t.test(`${name}: what is recorded of a warning about a short life lets it end`, async (t) => {
    const { dbId } = await storedContainer(storage, (await storedUser(storage)).id);
    for (const idleSeconds of [60, 61, 75, 119, 120]) {
      await lifetimes.change(dbId, { idleSeconds });
      const living = await lifetimes.findForUpdate(dbId);
      const end = living === null ? null : endOf(living.container);
      if (living === null || end === null) throw new Error('nothing ends it');
      const soon = new Date(end.at.getTime() - 1_000);
      const step = nextLifetimeStep(living.container, null, soon);
      t.ok(step.do === 'warn' && (await lifetimes.markWarned(dbId, end.at, step.leadSeconds)));
      const { warned } = (await lifetimes.findForUpdate(dbId)) ?? {};
      const later = new Date(end.at.getTime() + 60_000);
      t.equal(nextLifetimeStep(living.container, warned ?? null, later).do, 'end', `${idleSeconds} s`);
    }
  });

  await t.test(`${name}: a warning is given once about one end`, async (t) => {
    const { dbId } = await storedContainer(storage, (await storedUser(storage)).id);
    const [end, later] = [new Date('2030-01-01T00:00:00Z'), new Date('2030-01-01T01:00:00Z')];
    const first = await Promise.all([1, 2, 3].map(() => lifetimes.markWarned(dbId, end, 300)));
    t.equal(first.filter(Boolean).length, 1);
    t.match(await lifetimes.findForUpdate(dbId), { warned: { end, leadSeconds: 300, at: Date }, now: Date });
    t.same(
      [await lifetimes.markWarned(dbId, end, 60), await lifetimes.markWarned(dbId, end, 60)],
      [true, false],
    );
    t.notOk(await lifetimes.markWarned(dbId, end, 300), 'not the first one after the last');
    t.ok(await lifetimes.markWarned(dbId, later, 300), 'another end is warned about anew');
    t.notOk(await lifetimes.markWarned(NOBODY, end, 60));
    t.equal(await lifetimes.findForUpdate(NOBODY), null);
  });
}
