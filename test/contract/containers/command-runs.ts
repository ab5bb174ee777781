import { randomBytes, randomUUID } from 'node:crypto';
import t from 'tap';
import type { Storage } from '../../../src/ports/storage.ts';

/** Guarantees of the records of commands that can be resumed. `pass` ages them. */
export async function commandRunRepositoryContract(
  name: string,
  storage: Storage,
  pass: (seconds: number) => Promise<unknown>,
): Promise<void> {
  const { commandRuns } = storage.repositories;

  await t.test(`${name}: a command is on record from its start to its end`, async (t) => {
    const [one, other] = [randomBytes(32), randomBytes(32)];
    const replica = randomUUID();
    t.equal(await commandRuns.find(one), null);
    await commandRuns.begin(one, replica);
    t.match(await commandRuns.find(one), { replica, startedAt: Date, end: null });
    await commandRuns.end(one, { kind: 'exit', exitCode: 3, outputBytes: 5_000_000_000 });
    await commandRuns.begin(other, replica);
    await commandRuns.end(other, { kind: 'exit', exitCode: null, outputBytes: 0 });
    t.match(await commandRuns.find(one), {
      replica,
      end: { kind: 'exit', exitCode: 3, outputBytes: 5_000_000_000 },
    });
    t.match(await commandRuns.find(other), { end: { kind: 'exit', exitCode: null, outputBytes: 0 } });
    for (const kind of ['abandoned', 'unknown'] as const) {
      await commandRuns.begin(one, replica);
      t.match(await commandRuns.find(one), { end: null }, 'a name may be used again');
      await commandRuns.end(one, { kind });
      t.same((await commandRuns.find(one))?.end, { kind });
    }
    await commandRuns.begin(other, replica);
    await commandRuns.sweep();
    t.match(
      [await commandRuns.find(one), await commandRuns.find(other)],
      [{ replica }, { replica }],
      'not old',
    );
    await commandRuns.forget(one);
    t.equal(await commandRuns.find(one), null);
  });

  await t.test(`${name}: old records are swept, however they ended`, async (t) => {
    const [exited, left, unseen] = [randomBytes(32), randomBytes(32), randomBytes(32)];
    for (const hash of [exited, left, unseen]) await commandRuns.begin(hash, randomUUID());
    await commandRuns.end(exited, { kind: 'exit', exitCode: 0, outputBytes: 0 });
    await commandRuns.end(left, { kind: 'abandoned' });
    await pass(11 * 60);
    await commandRuns.sweep();
    t.same([await commandRuns.find(exited), await commandRuns.find(left)], [null, null]);
    t.ok(await commandRuns.find(unseen), 'one may run for days');
    await pass(8 * 86_400);
    await commandRuns.sweep();
    t.equal(await commandRuns.find(unseen), null);
  });
}
