import { mock } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { workTurns } from '../../../../src/adapters/engine-queues.ts';
import { inTurns } from '../../../../src/adapters/scripts/files/in-turns.ts';
import { RuntimeBusy } from '../../../../src/ports/containers/container-runtime.ts';
import type { Release } from '../../../../src/ports/containers/inside/container-programs.ts';
import type { EngineWait } from '../../../../src/ports/metrics.ts';

/** Containers `ada-1`, `ada-2` … belong to Ada, and so on. */
const ownerOf = (runtimeId: string): string => runtimeId.split('-')[0] ?? '';

/** Turns requested in a row; `begun` has those granted, in order. */
function setUp(t: Test) {
  // Time limits run by the test's clock.
  mock.timers.enable({ apis: ['setTimeout'] });
  t.teardown(() => mock.timers.reset());
  const work = workTurns(ownerOf);
  const begun: string[] = [];
  const releases = new Map<string, Release>();
  const refused: string[] = [];
  const ask = (kind: 'transfer' | 'piece', runtimeId: string, name: string): void => {
    work[kind](runtimeId).then(
      (release) => {
        begun.push(name);
        releases.set(name, release);
      },
      (error: unknown) => {
        if (error instanceof RuntimeBusy) refused.push(`${name} ${error.code} ${error.retryAfterSeconds}`);
      },
    );
  };
  const end = async (name: string): Promise<void> => {
    releases.get(name)?.();
    await setImmediate();
  };
  return { work, begun, refused, ask, end };
}

t.test(
  'a user has eight transfers at once, a container four, and users do not wait for each other',
  async (t) => {
    const { work, begun, ask, end } = setUp(t);
    for (let n = 1; n <= 6; n += 1) ask('transfer', 'ada-1', `a${n}`);
    for (let n = 7; n <= 12; n += 1) ask('transfer', 'ada-2', `a${n}`);
    for (let user = 0; user < 20; user += 1) ask('transfer', `user${user}-1`, `u${user}`);
    await setImmediate();
    t.same(
      begun.filter((name) => name.startsWith('a')),
      ['a1', 'a2', 'a3', 'a4', 'a7', 'a8', 'a9', 'a10'],
    );
    t.equal(begun.length, 28);
    t.equal(work.waiting(), 4);
    await end('a1');
    t.equal(begun.at(-1), 'a5');
  },
);

t.test('requests above the waiting limit of a container are refused, for that container alone', async (t) => {
  const { work, refused, ask, begun } = setUp(t);
  const waits: EngineWait[] = [];
  work.listen((wait) => waits.push(wait));
  for (let n = 0; n < 4 + 16 + 2; n += 1) ask('transfer', 'ada-1', `a${n}`);
  ask('transfer', 'ada-2', 'other');
  await setImmediate();
  t.same(refused, ['a20 engine_busy 5', 'a21 engine_busy 5']);
  t.equal(begun.at(-1), 'other');
  const received = (outcome: EngineWait['outcome']): number =>
    waits.filter((wait) => wait.outcome === outcome).length;
  t.same([received('started'), received('engine_busy')], [5, 2]);
  t.ok(waits.every(({ work: kind }) => kind === 'transfers'));
});

t.test('pieces take turns: a heavy sender moves no faster than the others', async (t) => {
  const { begun, ask, end } = setUp(t);
  for (let n = 1; n <= 8; n += 1) ask('piece', `ada-${n}`, `a${n}`);
  for (let n = 1; n <= 3; n += 1) ask('piece', `bob-${n}`, `b${n}`);
  ask('piece', 'eve-1', 'e1');
  await setImmediate();
  t.same(begun, ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'b3', 'e1']);
  ask('piece', 'dan-1', 'd1');
  ask('piece', 'eve-1', 'e2');
  await end('a1');
  t.equal(begun.at(-1), 'd1', 'whoever has none comes before whoever waits for longer');
  await end('b1');
  t.equal(begun.at(-1), 'e2');
});

t.test('a turn released twice counts once', async (t) => {
  const { work, begun, ask, end } = setUp(t);
  for (let n = 1; n <= 4; n += 1) ask('piece', 'ada-1', `a${n}`);
  await setImmediate();
  await end('a1');
  await end('a1');
  t.same(begun, ['a1', 'a2', 'a3']);
  t.equal(work.waiting(), 1);
});

t.test('a slow piece gives up its turn, and slow statistics block only their container', async (t) => {
  const { work, begun, ask } = setUp(t);
  for (let n = 1; n <= 3; n += 1) ask('piece', 'ada-1', `a${n}`);
  await setImmediate();
  t.same(begun, ['a1', 'a2']);
  mock.timers.tick(1_000);
  await setImmediate();
  t.same(begun, ['a1', 'a2', 'a3']);

  const asked: string[] = [];
  const never = (name: string) => () => {
    asked.push(name);
    return new Promise<void>(() => {});
  };
  for (const name of ['ada-1', 'ada-2', 'ada-3']) void work.figures(name, never(name));
  const late = work.figures('ada-1', never('again'));
  await setImmediate();
  t.same(asked, ['ada-1', 'ada-2'], 'two of a user');
  mock.timers.tick(2_000);
  await setImmediate();
  t.same(asked, ['ada-1', 'ada-2', 'ada-3'], 'and nothing more where one is late');
  mock.timers.tick(10_000);
  await t.rejects(late, { code: 'engine_busy' });
});

t.test('sizes are measured one per user, two in all', async (t) => {
  const work = workTurns(ownerOf);
  const ends: (() => void)[] = [];
  const asked: string[] = [];
  const size = (name: string) =>
    work.size(name, async () => {
      asked.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      return name;
    });
  const all = ['ada-1', 'ada-2', 'bob-1', 'eve-1'].map(size);
  await setImmediate();
  t.same(asked, ['ada-1', 'bob-1']);
  while (ends.length > 0) {
    for (const end of ends.splice(0)) end();
    await setImmediate();
  }
  t.same(asked, ['ada-1', 'bob-1', 'eve-1', 'ada-2'], 'those who had none yet come first');
  t.same(await Promise.all(all), ['ada-1', 'ada-2', 'bob-1', 'eve-1']);
});

t.test('a stream takes a turn per piece, and none while its reader is slow', async (t) => {
  let inUse = 0;
  let turns = 0;
  const turn = async (): Promise<Release> => {
    turns += 1;
    inUse += 1;
    return () => {
      inUse -= 1;
    };
  };
  let isEnded = false;
  async function* source(): AsyncGenerator<Buffer> {
    try {
      for (const text of ['one', 'two', 'three']) {
        t.equal(inUse, 1, 'while it is read');
        yield Buffer.from(text);
      }
    } finally {
      isEnded = true;
    }
  }
  const seen: string[] = [];
  for await (const piece of inTurns(source(), turn, 1)) {
    t.equal(inUse, 0, 'while it is used');
    seen.push(String(piece));
    if (seen.length === 2) break;
  }
  t.same(seen, ['one', 'two']);
  t.ok(isEnded, 'a reader that leaves ends it');
  t.same([turns, inUse], [2, 0]);
  async function* broken(): AsyncGenerator<Buffer> {
    yield Buffer.from('one');
    throw new Error('lost');
  }
  await t.rejects(async () => {
    for await (const piece of inTurns(broken(), turn, 1)) seen.push(String(piece));
  }, /lost/);
  t.equal(inUse, 0, 'a stream that fails gives its turn back');
  turns = 0;
  async function* small(): AsyncGenerator<Buffer> {
    for (let n = 0; n < 100; n += 1) yield Buffer.alloc(10);
  }
  for await (const piece of inTurns(small(), turn, 250)) t.equal(piece.length, 10);
  t.equal(turns, 5, 'one for each 250 bytes, and one to see the end');
});
