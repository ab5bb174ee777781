import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Plugin } from 'vite';
import { type Content, contentOf, escaped } from './markdown.ts';
import listed from './pages.json' with { type: 'json' };

const FOLDER = path.resolve(import.meta.dirname, '../..', listed.folder);
const HERE = import.meta.dirname;
const FONT = /inter-latin-wght-normal.*\.woff2$/;

const COMMANDS = readdirSync(path.join(FOLDER, listed.commands))
  .filter((file) => file.endsWith('.md'))
  .map((file) => `${listed.commands}/${path.basename(file, '.md')}`);
const NAMES: readonly string[] = [...listed.guides, ...listed.reference, ...COMMANDS];

const hrefOf = (name: string): string => `/help/${name}`;

type Page = Content & { readonly name: string };
type Assets = { readonly style: string; readonly script: string };

/** The user's guide as static pages below `/help`, with the pictures that it shows. */
export const helpPages: Plugin = {
  name: 'help-pages',
  generateBundle(_options, bundle) {
    const emit = (name: string, source: string | Uint8Array): string =>
      `/${this.getFileName(this.emitFile({ type: 'asset', name, source }))}`;
    const pictures = new Map<string, string>();
    const picture = (file: string): string => {
      const known = pictures.get(file) ?? emit(path.basename(file), readFileSync(path.join(FOLDER, file)));
      pictures.set(file, known);
      return known;
    };
    const link = (file: string): string | null => {
      const name = file.replace(/\.md$/, '');
      return NAMES.includes(name) ? hrefOf(name) : null;
    };
    const pages = NAMES.map((name): Page => {
      const text = readFileSync(path.join(FOLDER, `${name}.md`), 'utf8');
      return { name, ...contentOf(`${name}.md`, text, { link, picture }) };
    });
    const font = Object.keys(bundle).find((file) => FONT.test(file));
    if (font === undefined) throw new Error('the font of the pages is not in the bundle');
    const assets: Assets = {
      style: emit('help.css', styleWith(`/${font}`)),
      script: emit('help.js', readFileSync(path.join(HERE, 'theme.js'))),
    };
    for (const page of [indexOf(pages), ...pages]) {
      const fileName = page.name === '' ? 'help.html' : `help/${page.name}.html`;
      this.emitFile({ type: 'asset', fileName, source: documentOf(page, pages, assets) });
    }
  },
};

/** The pages' own colours come first, then the font under its hashed name. */
const styleWith = (font: string): string =>
  [
    readFileSync(path.resolve(HERE, '../src/styles/base/tokens.css'), 'utf8'),
    `@font-face { font-family: "Inter Variable"; src: url("${font}") format("woff2"); font-weight: 100 900; font-display: swap; }`,
    readFileSync(path.join(HERE, 'help.css'), 'utf8'),
  ].join('\n');

const listOf = (names: readonly string[], pages: readonly Page[], current: string): string =>
  `<ul>${names
    .map((name) => pages.find((page) => page.name === name))
    .filter((page) => page !== undefined)
    .map(
      ({ name, title }) =>
        `<li><a href="${hrefOf(name)}"${name === current ? ' aria-current="page"' : ''}>${escaped(title)}</a></li>`,
    )
    .join('')}</ul>`;

const contentsOf = (pages: readonly Page[], current: string): string =>
  `<h2>Guides</h2>${listOf(listed.guides, pages, current)}<h2>Reference</h2>${listOf(listed.reference, pages, current)}`;

const indexOf = (pages: readonly Page[]): Page => ({
  name: '',
  title: 'Help',
  html: `<h1>Help</h1>${contentsOf(pages, '')}`,
});

const documentOf = ({ name, title, html }: Page, pages: readonly Page[], { style, script }: Assets): string =>
  `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <meta name="color-scheme" content="light dark" />
    <meta name="referrer" content="no-referrer" />
    <title>${escaped(title)} · Berth</title>
    <link rel="icon" href="/favicon.svg" type="image/svg+xml" />
    <link rel="stylesheet" href="${style}" />
    <script src="${script}"></script>
  </head>
  <body>
    <a class="skip-link" href="#main">Skip to content</a>
    <header>
      <a class="brand" href="/help">Berth help</a>
      <a href="/">Open Berth</a>
    </header>
    <div class="columns">
      ${name === '' ? '' : `<nav aria-label="Help">${contentsOf(pages, name)}</nav>`}
      <main id="main" tabindex="-1">
${html}
      </main>
    </div>
  </body>
</html>
`;
