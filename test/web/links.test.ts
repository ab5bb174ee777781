import { readFileSync } from 'node:fs';
import t from 'tap';
import { linkedText } from '../../web/src/lib/linked-text.ts';
import { type Link, linkOf } from '../../web/src/terminal/links.ts';

t.test('a link to an address in the container is not opened by the browser outside of it', async (t) => {
  const inside = (host: string, port: number): Link => ({ kind: 'inside', host, port });
  const cases: [string, Link][] = [
    ['http://localhost:3000/x', inside('localhost:3000', 3000)],
    ['https://app.localhost/', inside('app.localhost', 443)],
    ['http://127.0.0.1:8080', inside('127.0.0.1:8080', 8080)],
    ['http://0.0.0.0:5173/', inside('0.0.0.0:5173', 5173)],
    ['http://[::1]:4000/', inside('[::1]:4000', 4000)],
    ['http://[::ffff:127.0.0.1]/', inside('[::ffff:7f00:1]', 80)],
    ['http://172.18.0.2:80/', inside('172.18.0.2', 80)],
    ['http://[fd00::2]/', inside('[fd00::2]', 80)],
    ['https://example.org/', { kind: 'web', uri: 'https://example.org/' }],
    ['http://8.8.8.8/', { kind: 'web', uri: 'http://8.8.8.8/' }],
    ['http://localhost.example.org/', { kind: 'web', uri: 'http://localhost.example.org/' }],
    ['javascript:alert(1)', { kind: 'none' }],
    ['file:///etc/passwd', { kind: 'none' }],
    ['no link', { kind: 'none' }],
  ];
  for (const [uri, link] of cases) t.same(linkOf(uri), link, uri);
});

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

t.test(
  'the preview of a page names no address without an origin, which readers of previews ignore',
  async (t) => {
    t.notMatch(readFileSync('web/index.html', 'utf8'), /property="og:[^>]*content="\//);
  },
);
