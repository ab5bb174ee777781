import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../src/ports/repositories.ts';
import type { NewHold } from '../../src/ports/terminal-holds.ts';
import { storedContainer, storedUser } from '../support/stored.ts';

/** What the notes of who has which terminal must guarantee. `silence` lets a run say nothing for so long. */
export async function terminalHoldsContract(
  name: string,
  storage: Storage,
  silence: (run: string, seconds: number) => Promise<void>,
): Promise<void> {
  const { terminalHolds: holds } = storage.repositories;
  const aHold = async (over: Partial<NewHold> = {}): Promise<NewHold> => {
    const { id } = await storedUser(storage);
    const { dbId, runtimeId } = await storedContainer(storage, id);
    return {
      stream: randomUUID(),
      containerId: dbId,
      runtimeId: runtimeId ?? '',
      muxSession: 'pane-x',
      replica: randomUUID(),
      run: randomUUID(),
      ...over,
    };
  };

  await t.test(`${name}: a hold is there from put to remove`, async (t) => {
    const hold = await aHold();
    await holds.renew(hold.run);
    await holds.put(hold);
    const { containerId, ...rest } = hold;
    const [found, ...more] = await holds.inContainer(containerId);
    t.match(found, rest);
    t.ok(found !== undefined && found.silentSeconds < 60 && !found.isEnding);
    t.same(more, []);
    for (const stream of [hold.stream, randomUUID()]) await holds.markEnding(stream);
    t.match(await holds.inContainer(containerId), [{ ...rest, isEnding: true }]);
    await holds.remove([hold.stream, randomUUID()]);
    t.same(await holds.inContainer(containerId), []);
    await holds.remove([]);
  });

  await t.test(`${name}: the first of a session is told from a later one`, async (t) => {
    const first = await aHold();
    const later = { ...first, stream: randomUUID(), run: randomUUID() };
    const others = [
      { ...first, stream: randomUUID(), muxSession: 'pane-y' },
      { ...first, stream: randomUUID(), runtimeId: 'made-anew' },
      await aHold(),
    ];
    t.equal(await holds.put(first), true);
    t.equal(await holds.put(later), false);
    for (const other of others) t.equal(await holds.put(other), true);
    await holds.remove([first, later, ...others].map(({ stream }) => stream));
    t.equal(await holds.put(first), true);
    await holds.remove([first.stream]);
  });

  await t.test(`${name}: how long a run was silent, and for ever when it never spoke`, async (t) => {
    const hold = await aHold();
    await holds.put(hold);
    const silent = async () => (await holds.inContainer(hold.containerId))[0]?.silentSeconds;
    t.equal(await silent(), Number.POSITIVE_INFINITY);
    await holds.renew(hold.run);
    await silence(hold.run, 100);
    t.ok(Math.abs(((await silent()) ?? 0) - 100) < 20);
    await holds.renew(hold.run);
    t.ok(((await silent()) ?? 100) < 20);
    await holds.remove([hold.stream]);
  });

  await t.test(`${name}: what nobody seems to have`, async (t) => {
    const me = { replica: randomUUID(), run: randomUUID() };
    const [mine, lost, earlier, alive, dead, unheard] = [
      await aHold(me),
      await aHold(me),
      await aHold({ replica: me.replica }),
      await aHold(),
      await aHold(),
      await aHold(),
    ];
    const all = [mine, lost, earlier, alive, dead, unheard];
    for (const hold of all) await holds.put(hold);
    for (const hold of [mine, earlier, alive, dead]) await holds.renew(hold.run);
    await silence(dead.run, 80);
    const found = await holds.unattended({ ...me, streams: [mine.stream] }, 75);
    const left = [lost, earlier, dead, unheard].map(({ containerId }) => containerId);
    t.same(found.filter((id) => all.some((one) => one.containerId === id)).sort(), left.sort());
    const none = await holds.unattended({ ...me, streams: [] }, 75);
    t.ok(none.includes(mine.containerId), 'and its own, when it has none');
    await holds.remove(all.map(({ stream }) => stream));
  });
}
