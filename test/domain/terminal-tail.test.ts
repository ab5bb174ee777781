import t from 'tap';
import { unfinished } from '../../src/domain/terminal-tail.ts';

t.test('what has begun and not ended is told from what is whole', async (t) => {
  const cases: readonly [output: string, tail: string][] = [
    ['', ''],
    ['plain', ''],
    ['a\x1b[31m', ''],
    ['a\x1b[31mb', ''],
    ['a\x1b', '\x1b'],
    ['a\x1b[', '\x1b['],
    ['a\x1b[?20', '\x1b[?20'],
    ['a\x1b(', '\x1b('],
    ['a\x1b(B', ''],
    ['a\x1b]2;title', '\x1b]2;title'],
    ['a\x1b]2;title\x1b', '\x1b]2;title\x1b'],
    ['a\x1b]2;title\x07', ''],
    ['a\x1b]2;title\x1b\\', ''],
    ['a\x1bP+q54', '\x1bP+q54'],
  ];
  for (const [output, tail] of cases) {
    t.equal(unfinished(Buffer.from(output, 'latin1')).toString('latin1'), tail, JSON.stringify(output));
  }
  const euro = Buffer.from('é€😀');
  const begun = (bytes: number): number => unfinished(euro.subarray(0, bytes)).length;
  t.same([1, 2, 3, 4, 5, 6, 7, 8, 9].map(begun), [1, 0, 1, 2, 0, 1, 2, 3, 0]);
});
