import t from 'tap';
import { linkedText } from '../../web/src/lib/linked-text.ts';

const CASES = [
  ['Plain text.', []],
  ['See https://example.org/a?b=1, then sign in.', ['https://example.org/a?b=1']],
  ['(https://example.org/help)', ['https://example.org/help']],
  ['https://a.example and https://b.example.', ['https://a.example', 'https://b.example']],
  ['http://example.org javascript:alert(1) ftp://example.org', []],
  ['<a href="https://example.org">x</a>', ['https://example.org']],
  ['https://', []],
] as const;

for (const [text, addresses] of CASES) {
  t.test(`${text} links ${addresses.length}`, async (t) => {
    const parts = linkedText(text);
    t.equal(parts.map((part) => part.text).join(''), text, 'no character is lost');
    t.same(
      parts.flatMap(({ href }) => href ?? []),
      addresses,
    );
  });
}
