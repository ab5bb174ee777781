import fc from 'fast-check';
import t from 'tap';
import { incompleteBytes, utf8At } from '../../src/domain/utf8.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

t.test('what begins at a byte', async (t) => {
  const cases: readonly [string, string | number][] = [
    ['00', 1],
    ['7f', 1],
    ['c2 80', 2],
    ['df bf', 2],
    ['e0 a0 80', 3],
    ['ed 9f bf', 3],
    ['ee 80 80', 3],
    ['ef bf bf', 3],
    ['f0 90 80 80', 4],
    ['f4 8f bf bf', 4],
    ['c3', 'incomplete'],
    ['e2', 'incomplete'],
    ['e2 82', 'incomplete'],
    ['f0 9f 98', 'incomplete'],
    ['c3 41', 'invalid'],
    ['e2 82 41', 'invalid'],
    ['80', 'invalid'],
    ['c0 80', 'invalid'],
    ['c1', 'invalid'],
    ['e0 9f', 'invalid'],
    ['ed a0 80', 'invalid'],
    ['f0 8f', 'invalid'],
    ['f4 90', 'invalid'],
    ['f5', 'invalid'],
    ['ff', 'invalid'],
  ];
  for (const [hex, expected] of cases) {
    const found = utf8At(bytes(hex), 0);
    t.equal(found.kind === 'character' ? found.length : found.kind, expected, hex);
  }
});

t.test('how much of the end is the beginning of a character', async (t) => {
  const cases: readonly [string, number][] = [
    ['', 0],
    ['41', 0],
    ['c3', 1],
    ['41 c3', 1],
    ['c3 a9', 0],
    ['e2 82', 2],
    ['e2 82 ac', 0],
    ['f0 9f 98', 3],
    ['f0 9f 98 80', 0],
    ['82 ac', 0],
    ['e2 c3', 1],
    ['ff', 0],
    ['ed a0', 0],
  ];
  for (const [hex, expected] of cases) t.equal(incompleteBytes(bytes(hex)), expected, hex);
});

t.test('every character is read as what it is, and each cut in it is seen', async () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), (text) => {
      const whole = Buffer.from(text);
      const found = utf8At(whole, 0);
      if (found.kind !== 'character') return false;
      const cuts = Array.from({ length: whole.length - 1 }, (_, at) => at + 1);
      return (
        found.codePoint === text.codePointAt(0) &&
        found.length === whole.length &&
        cuts.every((cut) => incompleteBytes(whole.subarray(0, cut)) === cut)
      );
    }),
  );
});
