import path from 'node:path';
import { Marked, type Tokens } from 'marked';

/** Where a page's links and pictures lead, by their path from the pages' folder; null for nowhere. */
export type Targets = {
  readonly link: (file: string) => string | null;
  readonly picture: (file: string) => string;
};

export type Content = { readonly title: string; readonly html: string };

/** The page of a file in Markdown. `file`: its path from the pages' folder. */
export function contentOf(file: string, text: string, targets: Targets): Content {
  const inFolder = (href: string): string => path.posix.join(path.posix.dirname(file), href);
  const marked = new Marked({
    renderer: {
      heading({ tokens, depth, text: words }) {
        return `<h${depth} id="${anchorOf(words)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const words = this.parser.parseInline(tokens);
        const to = /^(https?:|#)/.test(href) ? href : targetOf(inFolder(href), targets);
        return to === null ? words : `<a href="${to}">${words}</a>`;
      },
      image({ href, text: words }) {
        return `<img src="${targets.picture(inFolder(href))}" alt="${words}" />`;
      },
      // why: a keyboard scrolls only what can have the focus
      code({ text: code }) {
        return `<pre tabindex="0"><code>${escaped(code)}</code></pre>\n`;
      },
    },
  });
  const [heading] = marked.lexer(text).filter((token) => token.type === 'heading');
  const title = (heading as Tokens.Heading | undefined)?.text;
  if (title === undefined) throw new Error(`${file} has no heading`);
  return { title: title.replaceAll('`', ''), html: marked.parse(text, { async: false }) };
}

function targetOf(href: string, { link }: Targets): string | null {
  const [file = '', anchor] = href.split('#');
  const to = link(file);
  return to === null || anchor === undefined ? to : `${to}#${anchor}`;
}

/** As hosts of repositories make them. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

export const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
