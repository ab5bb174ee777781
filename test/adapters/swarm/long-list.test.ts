import t from 'tap';
import { AnswerTooLong } from '../../../src/adapters/docker/engine/answer-limit.ts';
import { listByPrefix } from '../../../src/adapters/swarm/client/long-list.ts';
import { RuntimeFailure, RuntimeUnavailable } from '../../../src/ports/containers/container-runtime.ts';

const tooLong = () => new RuntimeFailure('rpc error: grpc: received message larger than max (17 vs. 16)');
const cut = () => new RuntimeUnavailable('the engine is unreachable', { cause: new AnswerTooLong('32 MiB') });

const names = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, at) =>
    ((at * 7919) % 65_536).toString(16).padStart(4, '0').toLowerCase(),
  );

/** A manager with these names, whose answers have at most so many. */
function aManager(count: number, most: number, fault: () => Error) {
  const all = names(count);
  const asked: string[] = [];
  const list = listByPrefix(async (digits) => {
    asked.push(digits);
    const found = all.filter((name) => name.startsWith(digits));
    if (found.length > most) throw fault();
    return found;
  });
  return { all, asked, list };
}

t.test(
  'a list too long for one answer is read in parts, and the next time without a failed try',
  async (t) => {
    for (const fault of [tooLong, cut]) {
      const { all, asked, list } = aManager(6_000, 900, fault);
      t.same((await list()).toSorted(), all.toSorted(), 'each once');
      asked.length = 0;
      t.same((await list()).toSorted(), all.toSorted());
      t.notOk(asked.includes(''), 'the long answer is not asked for again');
      t.equal(new Set(asked).size, 16);
    }
  },
);

t.test('a short list is one question, and grows into parts before it is too long', async (t) => {
  const { asked, list } = aManager(501, 10_000, tooLong);
  await list();
  t.same(asked, ['']);
  await list();
  t.equal(asked.length, 17);
});

t.test('another fault is not tried in parts', async (t) => {
  const { asked, list } = aManager(6_000, 900, () => new RuntimeUnavailable('it is down'));
  await t.rejects(list(), { message: 'it is down' });
  t.same(asked, ['']);
});
