import type { Page } from 'playwright-core';
import type { InPage } from './panes.ts';

/** All foregrounds on all backgrounds, plain and reversed: `f/b` as the text of each cell's span. */
export const PAIRS = (() => {
  const colours = [null, ...Array.from({ length: 16 }, (_, at) => at)];
  const sgr = (base: number, at: number | null): string =>
    at === null ? `${base + 9}` : `${at < 8 ? base + at : base + 52 + at}`;
  const pairs = [0, 7].flatMap((reverse) =>
    colours.flatMap((f) =>
      colours.map((b) => `\x1b[0;${reverse};${sgr(30, f)};${sgr(40, b)}m${f ?? 'd'}/${b ?? 'd'}`),
    ),
  );
  return `\x1b[2J\x1b[H${pairs.join('\x1b[0m ')}\x1b[0m`;
})();

const channels = (colour: string): readonly number[] => (colour.match(/[\d.]+/g) ?? []).map(Number);

/** WCAG 2.2, relative luminance. */
function luminance(colour: string): number {
  const [r = 0, g = 0, b = 0] = channels(colour).map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** WCAG 2.2: from 1 to 21. */
export function contrast(a: string, b: string): number {
  const [darker = 0, lighter = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (lighter + 0.05) / (darker + 0.05);
}

export type Drawn = { readonly text: string; readonly color: string; readonly background: string };

type Element = { readonly textContent: string; readonly parentElement: Element | null };

/** The spans of the screen with what they are drawn in; a transparent one shows the background of an element around it. */
export const drawn = (page: Page): Promise<Drawn[]> =>
  page.locator('.terminal-host').evaluate((host) => {
    const { getComputedStyle } = globalThis as unknown as InPage;
    const behind = (element: Element | null): string => {
      if (element === null) return 'rgb(255, 255, 255)';
      const { backgroundColor } = getComputedStyle(element);
      return backgroundColor === 'rgba(0, 0, 0, 0)' ? behind(element.parentElement) : backgroundColor;
    };
    const rows = host as unknown as { querySelectorAll(selector: string): Iterable<Element> };
    return Array.from(rows.querySelectorAll('.xterm-rows span'), (span) => ({
      text: span.textContent,
      color: getComputedStyle(span).color,
      background: behind(span),
    }));
  });

/** Whether the span is a cell of `PAIRS`. */
export const isPair = ({ text }: Drawn): boolean => /^[\dd]+\/[\dd]+$/.test(text);
