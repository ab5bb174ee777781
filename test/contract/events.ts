import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { ContainerEvent, EventType } from '../../src/domain/events.ts';
import type { EventLog, StoredEvent } from '../../src/ports/event-log.ts';
import type { Storage } from '../../src/ports/storage.ts';
import { aSharedContainer } from '../support/database/sharing.ts';
import { type Blocked, hashOf, storedUser } from '../support/database/stored.ts';
import { waitFor, waitForValue } from '../support/patience.ts';
import { valuesOf } from '../support/values.ts';

const anEvent = (ownerId: string, dbId: string, type: EventType = 'container_started'): ContainerEvent => ({
  type,
  ownerId,
  dbId,
  data: { id: 'e', db_id: dbId, name: 'dev "🚢"', status: 'running' },
});

/** Reads from a position until there are `count`: transactions in other databases of the server delay them. */
export async function read(events: EventLog, from: string, count: number): Promise<readonly StoredEvent[]> {
  const all: StoredEvent[] = [];
  const more = async (): Promise<number> => {
    all.push(...(await events.after(all.at(-1)?.id ?? from, 2)).events);
    return all.length;
  };
  await waitForValue(more, (so) => so >= count);
  return all;
}

const idsOf = (all: readonly StoredEvent[]) => all.map(({ dbId }) => dbId);

/** Guarantees of the event log. `age` ages all events; `blocked` where transactions are concurrent. */
export async function eventLogContract(
  name: string,
  storage: Storage,
  age: (hours: number) => Promise<void>,
  blocked: Blocked | null,
): Promise<void> {
  const { events } = storage.repositories;

  await t.test(`${name}: an event is read as written, by its owner`, async (t) => {
    const [owner, dbId] = [randomUUID(), randomUUID()];
    const start = await events.end();
    await events.append(anEvent(owner, dbId));
    const [found, ...more] = await read(events, start, 1);
    t.match(found, { ...anEvent(owner, dbId), ownerId: undefined, id: /^\S{1,64}$/, time: Date });
    t.same(found?.audience, [owner]);
    t.same(more, []);
    t.same((await events.after(found?.id ?? '', 9)).events, [], 'and once');
    t.same((await events.after(await events.end(), 9)).events, [], 'what comes later comes after the end');
  });

  await t.test(`${name}: a position whose event the log does not have is known`, async (t) => {
    const dbId = randomUUID();
    const start = await events.end();
    await events.append(anEvent(dbId, dbId));
    await events.append(anEvent(dbId, dbId));
    const all = await read(events, start, 2);
    for (const [at, { id }] of all.entries()) {
      const { events: later, isGone } = await events.after(id, 9);
      t.same([later.length, isGone], [1 - at, false]);
      const foreign = id.replace(/[0-9]+$/, (position) => `${Number(position) + 1_000}`);
      t.ok((await events.after(foreign, 9)).isGone);
    }
  });

  await t.test(`${name}: an event of the service is for everybody, or for administrators`, async (t) => {
    const { users } = storage.repositories;
    const [ada, root, former] = [
      await storedUser(storage),
      await storedUser(storage),
      await storedUser(storage),
    ];
    for (const { id } of [root, former]) await users.change(id, { role: 'admin' });
    await users.change(former.id, { role: 'user' });
    const start = await events.end();
    const [forAll, forAdmins] = [randomUUID(), randomUUID()];
    const ofService = (dbId: string, audience: 'everybody' | 'administrators') =>
      events.append({ type: 'announcement_changed', dbId, ownerId: null, audience, data: { id: dbId } });
    await ofService(forAll, 'everybody');
    await ofService(forAdmins, 'administrators');
    const [first, second] = await read(events, start, 2);
    t.equal(first?.audience, 'everybody');
    t.ok(second?.audience.includes(root.id));
    t.same([first?.isForAdministrators, second?.isForAdministrators], [false, true]);
    for (const { id } of [ada, former]) t.notOk(second?.audience.includes(id));
    const range = { after: start, upTo: second?.id ?? '' };
    const seen = await events.seenBy(root.id, range, 9);
    t.same(idsOf(seen), [forAll, forAdmins]);
    t.same(valuesOf(seen, 'isForAdministrators'), [false, true]);
    for (const { id } of [ada, former]) t.same(idsOf(await events.seenBy(id, range, 9)), [forAll]);
  });

  await t.test(`${name}: with whom a container is shared hears of it as long as that lasts`, async (t) => {
    const { ada, bob, dbId, say, join, leave } = await aShare();
    await join();
    const start = await events.end();
    await say();
    const [found] = await read(events, start, 1);
    t.same(new Set(found?.audience), new Set([ada.id, bob.id]));
    const range = { after: start, upTo: found?.id ?? '' };
    t.same(idsOf(await events.seenBy(bob.id, range, 9)), [dbId]);
    await leave();
    t.same((await read(events, start, 1))[0]?.audience, [ada.id]);
    t.same(await events.seenBy(bob.id, range, 9), []);
  });

  /** Ada shares a container with Bob, who comes and goes. */
  async function aShare() {
    const { ada, bob, container, code, first, part } = await aSharedContainer(storage);
    const { dbId } = container;
    const bobs = part(first.id, bob.id);
    return {
      ada,
      bob,
      dbId,
      say: (type?: EventType) => events.append(anEvent(ada.id, dbId, type)),
      join: () =>
        storage.inTransaction(async (tx) => {
          await tx.collaborations.findByCodeForUpdate(hashOf(code));
          await tx.participations.admit(bobs);
        }),
      leave: () => storage.repositories.participations.dismiss(bobs),
    };
  }

  /** Which of these events since `start` Bob may see: by the stream, and by his own reads. */
  async function seenOf(bob: { readonly id: string }, start: string, count: number) {
    const all = await read(events, start, count);
    const inStream = all.map(({ audience }) => audience.includes(bob.id));
    const own = await events.seenBy(bob.id, { after: start, upTo: all.at(-1)?.id ?? '' }, 99);
    const ids = new Set(own.map(({ id }) => id));
    return { inStream, own: all.map(({ id }) => ids.has(id)) };
  }

  await t.test(`${name}: a new participant gets later events only`, async (t) => {
    const { bob, say, join, leave } = await aShare();
    const start = await events.end();
    await say();
    await join();
    await say();
    await join();
    let received = [false, true];
    t.same(
      await seenOf(bob, start, 2),
      { inStream: received, own: received },
      'joining again changes nothing',
    );
    await leave();
    await say();
    await join();
    await say();
    received = [false, false, false, true];
    t.same(await seenOf(bob, start, 4), { inStream: received, own: received }, 'who was away begins anew');
  });

  await t.test(`${name}: a change is before or after a joining, however slow it is`, async (t) => {
    const { ada, bob, dbId, join } = await aShare();
    const start = await events.end();
    let joining: Promise<unknown> = Promise.resolve();
    let hasJoined = false;
    await storage.inTransaction(async (tx) => {
      await tx.containers.findAny(dbId);
      joining = join().then(() => {
        hasJoined = true;
      });
      if (blocked !== null) await waitFor(() => hasJoined, { what: 'the joining goes through' });
      await tx.roleSetups.findForUpdate(dbId);
      await tx.events.append(anEvent(ada.id, dbId));
    });
    const received = [hasJoined];
    await joining;
    t.same(
      await seenOf(bob, start, 1),
      { inStream: received, own: received },
      `joined in the middle: ${hasJoined}`,
    );
  });

  await t.test(`${name}: a join during a change waits for it, and sees it in the list`, async (t) => {
    const { ada, bob, dbId, join } = await aShare();
    const start = await events.end();
    let joining: Promise<unknown> = Promise.resolve();
    await storage.inTransaction(async (tx) => {
      await tx.roleSetups.findForUpdate(dbId);
      await tx.events.append(anEvent(ada.id, dbId));
      joining = join();
      await blocked?.(1);
    });
    await joining;
    t.same(await seenOf(bob, start, 1), { inStream: [false], own: [false] });
  });

  await t.test(`${name}: participants get the delete that ends their share, and nothing later`, async (t) => {
    const { ada, bob, dbId, say, join } = await aShare();
    const start = await events.end();
    await join();
    await say('container_stopped');
    await storage.inTransaction(async (tx) => {
      await tx.roleSetups.findForUpdate(dbId);
      await tx.events.append(anEvent(ada.id, dbId, 'container_deleted'));
      t.equal((await tx.collaborations.endAllOf(dbId)).length, 1);
    });
    await say('container_created');
    const received = [false, true, false];
    t.same(await seenOf(bob, start, 3), { inStream: received, own: received });
  });

  await t.test(`${name}: pages are in the order of the changes`, async (t) => {
    const owner = randomUUID();
    const start = await events.end();
    const written = Array.from({ length: 7 }, () => randomUUID());
    await storage.inTransaction(async (tx) => {
      for (const dbId of written.slice(0, 4)) await tx.events.append(anEvent(owner, dbId));
    });
    for (const dbId of written.slice(4)) await events.append(anEvent(owner, dbId));
    const all = await read(events, start, 7);
    t.same(idsOf(all), written);
    t.equal(new Set(all.map(({ id }) => id)).size, 7);
  });

  await t.test(`${name}: a slow transaction does not delay its event for ever`, async (t) => {
    const [owner, slow, fast] = [randomUUID(), randomUUID(), randomUUID()];
    const start = await events.end();
    let written = (): void => {};
    let go = (): void => {};
    const slowHasWritten = new Promise<void>((resolve) => {
      written = resolve;
    });
    const slowMayGo = new Promise<void>((resolve) => {
      go = resolve;
    });
    const slowEnds = storage.inTransaction(async (tx) => {
      await tx.events.append(anEvent(owner, slow));
      written();
      await slowMayGo;
    });
    await slowHasWritten;
    const fastEnds = storage.inTransaction((tx) => tx.events.append(anEvent(owner, fast)));
    // With concurrent transactions the fast one commits now; otherwise it waits like the reader.
    if (blocked !== null) await fastEnds;
    const early = events.after(start, 9);
    if (blocked !== null) await early;
    go();
    await Promise.all([slowEnds, fastEnds]);
    const before = (await early).events;
    t.same(idsOf(before), idsOf(before).includes(fast) ? [slow, fast] : [], 'never the fast one alone');
    const after = await read(events, before.at(-1)?.id ?? start, 2 - before.length);
    t.same(idsOf([...before, ...after]), [slow, fast], 'both, in one order, and once');
  });

  await t.test(`${name}: a part of the stream is filtered by user`, async (t) => {
    const [mine, other] = [randomUUID(), randomUUID()];
    const start = await events.end();
    const written = Array.from({ length: 6 }, () => randomUUID());
    for (const [n, dbId] of written.entries()) {
      await events.append(anEvent(n % 2 === 0 ? mine : other, dbId));
    }
    const all = await read(events, start, 6);
    const at = (n: number): string => all[n]?.id ?? '';
    const seen = async (after: string, upTo: string, limit = 9) =>
      idsOf(await events.seenBy(mine, { after, upTo }, limit));
    t.same(await seen(start, at(5)), [written[0], written[2], written[4]]);
    t.same(await seen(at(0), at(4)), [written[2], written[4]], 'after the one, up to and with the other');
    t.same(await seen(at(4), at(2)), [], 'a reader that is behind has nothing for one who is ahead');
    t.same(await seen(start, at(5), 2), [written[0], written[2]]);
  });

  await t.test(`${name}: an id is valid until a day after the event that follows it`, async (t) => {
    const start = await events.end();
    const [first, second] = [randomUUID(), randomUUID()];
    await events.append(anEvent(first, first));
    const [{ id } = { id: '' }] = await read(events, start, 1);
    t.ok(await events.keepsSince(id));
    const strange = ['0-0', '99999999999999999999', `1-${'9'.repeat(19)}`, "1-1'; drop table events", '1-'];
    for (const unknown of ['', 'x', `${id}0`, ...strange]) t.notOk(await events.keepsSince(unknown), unknown);
    await age(26);
    await events.sweep();
    t.ok(await events.keepsSince(id), 'nothing has happened since, so nothing was missed');
    await events.append(anEvent(second, second));
    await age(23);
    await events.sweep();
    t.ok(await events.keepsSince(id), 'all that has happened since is kept');
    t.same(idsOf(await read(events, start, 2)), [first, second]);
    await age(1.5);
    await events.sweep();
    t.notOk(await events.keepsSince(id), 'too old to be asked for');
    t.same(idsOf(await read(events, start, 2)), [first, second], 'and kept a while longer');
    const last = (await read(events, start, 2)).at(-1)?.id ?? '';
    await age(1);
    await events.sweep();
    t.same(idsOf(await read(events, start, 1)), [second], 'the last one stays');
    t.same(
      await events.after(last, 9),
      { events: [], waiting: false, isGone: false },
      'a reader up to the last event continues after a quiet day',
    );
    t.ok(await events.keepsSince(last));
  });
}
