import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';

const below = readdirSync('docs', { recursive: true, encoding: 'utf8' }).map((file) => `docs/${file}`);
const PAGES = [...readdirSync('.'), ...below].filter((file) => file.endsWith('.md'));

/** Without code, which may look like a link. */
const proseOf = (page: string): string =>
  readFileSync(page, 'utf8')
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`]*`/g, 'code');

const linksOf = (page: string): readonly string[] =>
  [...proseOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);

/** The names of a page's headings, as hosts of repositories make them. */
const anchorsOf = (page: string): readonly string[] =>
  [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );

t.test('every link of a page leads to a file, and to a heading if it names one', async (t) => {
  for (const page of PAGES) {
    for (const link of linksOf(page)) {
      if (/^[a-z]+:/.test(link)) continue;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? page : path.join(path.dirname(page), file);
      t.ok(existsSync(target), `${page}: ${link}`);
      if (anchor !== undefined && target.endsWith('.md'))
        t.ok(anchorsOf(target).includes(anchor), `${page}: ${link}`);
    }
  }
});

t.test('the index names every page', async (t) => {
  const named = linksOf('docs/README.md').map((link) => path.join('docs', link));
  const other = (page: string): boolean => /^docs\/(README\.md|cli\/|decisions\/)/.test(page);
  const pages = below.filter((page) => page.endsWith('.md') && !other(page));
  t.same(pages.filter((page) => !named.includes(page)).sort(), []);
});
