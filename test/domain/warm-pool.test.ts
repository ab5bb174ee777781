import fc from 'fast-check';
import t from 'tap';
import { diskToClaim, type PoolModel, planPool, type WatchedMember } from '../../src/domain/warm-pool.ts';

const resources = { memoryMb: 512, cpuMillicores: 500, diskMb: 2560 };
const model: PoolModel = { node: 'local', image: 'berth/debian:12', imageId: 'sha256:new', resources };

const member = (dbId: string, over: Partial<WatchedMember> = {}): WatchedMember => ({
  ...model,
  dbId,
  state: 'ready',
  volume: `ws-${dbId}`,
  runtimeId: `r-${dbId}`,
  abandoned: false,
  ...over,
});

const planned = (
  members: readonly WatchedMember[],
  size: number,
  given: PoolModel | null = model,
  running = members.map((one) => one.dbId),
) => {
  const { remove, make } = planPool(members, new Set(running), size, given);
  return { remove: remove.map((one) => one.dbId), make };
};

t.test('what is removed and how many are made', async (t) => {
  const old = { imageId: 'sha256:old' };
  const cases: readonly [string, ReturnType<typeof planned>, string[], number][] = [
    ['an empty pool is filled', planned([], 2), [], 2],
    ['a full one is left alone', planned([member('a'), member('b')], 2), [], 0],
    ['what is being made counts', planned([member('a', { state: 'making', runtimeId: null })], 1), [], 0],
    [
      'what a killed process was making is removed and made anew',
      planned([member('a', { state: 'making', abandoned: true })], 1),
      ['a'],
      1,
    ],
    [
      'what a killed process was removing is removed',
      planned([member('a', { state: 'removing', abandoned: true })], 0, null),
      ['a'],
      0,
    ],
    [
      'what another process removes is its own affair',
      planned([member('a', { state: 'removing' })], 0),
      [],
      0,
    ],
    ['one that does not run is replaced', planned([member('a')], 1, model, []), ['a'], 1],
    ['one of an older image is replaced', planned([member('a', old)], 1), ['a'], 1],
    ['one of another reference is replaced', planned([member('a', { image: 'x' })], 1), ['a'], 1],
    ['one of another engine is replaced', planned([member('a', { node: 'x' })], 1), ['a'], 1],
    [
      'one with other limits is replaced',
      planned([member('a', { resources: { ...resources, diskMb: 512 } })], 1),
      ['a'],
      1,
    ],
    ['of too many the oldest go', planned([member('a'), member('b'), member('c')], 1), ['a', 'b'], 0],
    [
      'off means off',
      planned([member('a'), member('b', { state: 'making', abandoned: true })], 0, null),
      ['b', 'a'],
      0,
    ],
    ['without an image there is nothing to make', planned([], 3, null), [], 0],
  ];
  for (const [name, got, remove, make] of cases) t.same(got, { remove, make }, name);
});

t.test('any pool is in order after at most two passes, and is then left alone', async (t) => {
  const anyMember = fc.record({
    state: fc.constantFrom('making', 'ready', 'removing'),
    abandoned: fc.boolean(),
    imageId: fc.constantFrom('sha256:new', 'sha256:old'),
    runs: fc.boolean(),
  });
  const holds = () =>
    fc.assert(
      fc.property(fc.array(anyMember, { maxLength: 8 }), fc.nat(4), (drawn, size) => {
        let made = 0;
        // A process that is at work ends it: what it makes becomes ready, what it removes goes.
        const ended = drawn.filter((one) => one.state !== 'removing' || one.abandoned);
        let members = ended.map(({ runs: _, ...one }, n) =>
          member(`m${n}`, { ...one, state: one.state === 'making' && !one.abandoned ? 'ready' : one.state }),
        );
        const dead = new Set(ended.flatMap((one, n) => (one.runs ? [] : [`m${n}`])));
        for (let pass = 0; pass < 2; pass += 1) {
          const running = new Set(members.map((one) => one.dbId).filter((id) => !dead.has(id)));
          const plan = planPool(members, running, size, model);
          const gone = new Set(plan.remove.map((one) => one.dbId));
          const fresh = Array.from({ length: plan.make }, () => member(`n${made++}`));
          members = [...members.filter((one) => !gone.has(one.dbId)), ...fresh];
        }
        const rest = planPool(members, new Set(members.map((one) => one.dbId)), size, model);
        return members.length === size && rest.make === 0 && rest.remove.length === 0;
      }),
    );
  t.doesNotThrow(holds);
});

t.test('only a disk of a fixed size has to fit', async (t) => {
  t.equal(diskToClaim(resources, 'soft'), null);
  t.equal(diskToClaim(resources, 'hard'), 2560);
});
