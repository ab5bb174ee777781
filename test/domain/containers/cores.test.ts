import t from 'tap';
import { type CoreUse, coresFor, spreadCores } from '../../../src/domain/containers/cores/cores.ts';

t.test('a limit fills whole cores, at most those of the machine', async (t) => {
  const cases = [
    [100, 4, 1],
    [1000, 4, 1],
    [1001, 4, 2],
    [4000, 4, 4],
    [8000, 4, 4],
  ] as const;
  for (const [limit, machine, cores] of cases)
    t.equal(coresFor(limit, machine), cores, `${limit} of ${machine}`);
});

const use = (id: string, cores: readonly number[], busyMillicores = 0, need = cores.length): CoreUse => ({
  id,
  need,
  cores,
  busyMillicores,
});

t.test('containers move away from busy cores', async (t) => {
  const cases: [string, readonly CoreUse[], number, Record<string, readonly number[]>][] = [
    ['apart already', [use('a', [0], 900), use('b', [1], 900)], 2, {}],
    ['two on one core', [use('a', [0], 900), use('b', [0], 800)], 2, { b: [1] }],
    ['the busiest stays', [use('a', [0], 400), use('b', [0], 900)], 2, { a: [1] }],
    ['a little busy', [use('a', [0], 50), use('b', [0], 40)], 2, {}],
    ['idle on a busy core', [use('a', [0], 900), use('b', [0])], 2, { b: [1] }],
    ['no core is free', [use('a', [0], 900), use('b', [1], 900), use('c', [0], 900)], 2, {}],
    ['half on a busy core', [use('a', [0, 1], 1800), use('b', [1, 2], 800)], 4, { b: [2, 3] }],
    ['a higher limit', [use('a', [1], 900, 2)], 4, { a: [0, 1] }],
    ['a lower limit', [use('a', [0, 1, 2], 900, 1)], 4, { a: [0] }],
    ['no cores yet', [use('a', [], 0, 2)], 2, { a: [0, 1] }],
    ['a core that is gone', [use('a', [5], 0)], 2, { a: [0] }],
    ['all cores', [use('a', [0, 1], 2000), use('b', [0, 1], 2000)], 2, {}],
  ];
  for (const [what, uses, machine, moves] of cases) {
    const cores = Array.from({ length: machine }, (_, core) => core);
    t.same(Object.fromEntries(spreadCores(uses, cores)), moves, what);
  }
});

t.test('the order of the containers does not matter, and a second pass moves none', async (t) => {
  const uses = Array.from({ length: 40 }, (_, n) => use(`c${n}`, [n % 3], (n * 137) % 900));
  const machine = [0, 1, 2, 3, 4, 5, 6, 7];
  const moves = spreadCores(uses, machine);
  t.same([...spreadCores(uses.toReversed(), machine)].sort(), [...moves].sort());
  const moved = uses.map((each) => ({ ...each, cores: moves.get(each.id) ?? each.cores }));
  t.equal(spreadCores(moved, machine).size, 0);
});
