import type { Page } from 'playwright-core';

type Line = { readonly isWrapped: boolean; translateToString(trim: boolean): string };
type Buffer = { readonly length: number; getLine(at: number): Line | undefined };
/** What the page has of a terminal, as far as it is read here. */
type Screen = {
  readonly lookBack: { readonly isSnapshot: boolean; readonly isComplete: boolean };
  readonly terminal: {
    readonly cols: number;
    readonly rows: number;
    readonly buffer: { readonly active: Buffer & { readonly baseY: number; readonly viewportY: number } };
    write(data: string, done: () => void): void;
    selectLines(from: number, to: number): void;
    getSelection(): string;
    clearSelection(): void;
  };
};
type InPage = { document: { querySelector(selector: string): { berthScreen: Screen } | null } };

export type Scrollback = {
  readonly lines: readonly string[];
  readonly cols: number;
  readonly rows: number;
  /** Rows between what is shown and the newest screen. */
  readonly above: number;
  /** Whether it stands still, as it was at one moment. */
  readonly isSnapshot: boolean;
  /** Whether that is the newest there is. */
  readonly isComplete: boolean;
};

/** Scrollback and screen of the page's own terminal at one moment, with wrapped rows joined to the lines that they were. */
export const scrollbackOf = (page: Page): Promise<Scrollback> =>
  page.evaluate(async () => {
    const host = (globalThis as unknown as InPage).document.querySelector('.terminal-host');
    if (host === null) throw new Error('there is no terminal');
    const { terminal, lookBack } = host.berthScreen;
    await new Promise<void>((resolve) => terminal.write('', resolve));
    const { active } = terminal.buffer;
    const lines: string[] = [];
    for (let at = 0; at < active.length; at += 1) {
      const next = active.getLine(at + 1)?.isWrapped ?? false;
      const text = active.getLine(at)?.translateToString(!next) ?? '';
      if (active.getLine(at)?.isWrapped && lines.length > 0) lines.push(lines.pop() + text);
      else lines.push(text);
    }
    return {
      lines,
      cols: terminal.cols,
      rows: terminal.rows,
      above: active.baseY - active.viewportY,
      isSnapshot: lookBack.isSnapshot,
      isComplete: lookBack.isComplete,
    };
  });

/** What somebody copies who selects everything. */
export const copyOf = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const host = (globalThis as unknown as InPage).document.querySelector('.terminal-host');
    if (host === null) throw new Error('there is no terminal');
    const { terminal } = host.berthScreen;
    terminal.selectLines(0, terminal.buffer.active.length - 1);
    const text = terminal.getSelection();
    terminal.clearSelection();
    return text;
  });

/** The lines of a program that are there, from its first to its last, and all between them. */
export function linesBetween(lines: readonly string[], own: RegExp): readonly string[] {
  const first = lines.findIndex((line) => own.test(line));
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex((line) => own.test(line)) + 1);
}
