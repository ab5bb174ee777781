import '@xterm/xterm/css/xterm.css';
import { Terminal } from '@xterm/xterm';
import type { Size } from '../../../../src/client/terminal/terminal-protocol.ts';
import type { InnerLink } from '../links.ts';
import { loadAddons, loadWebgl } from './addons.ts';
import { withAllowedStyles } from './csp-styles.ts';
import { fitting } from './fit.ts';
import { followCursor } from './follow-cursor.ts';
import { FONTS, followFonts, fontLoaded } from './fonts.ts';
import { guardParser } from './parser-guard.ts';
import { handleKeys, type InputListener, latin1, sendInput } from './screen-input.ts';
import type { Scrollback } from './scrollback.ts';
import { type Found, type Search, searchIn } from './search.ts';
import { MINIMUM_CONTRAST, themeFor } from './themes.ts';
import { touchScrolling } from './touch-scrolling.ts';
import { type ScrollingDeps, scrolling } from './wheel-scrolling.ts';
import type { Zoom } from './zoom.ts';

export type ScreenListener = InputListener & {
  size(size: Size): void;
  /** How a screen is shown that is larger than the window; null where there is nothing to choose. */
  zoom(zoom: Zoom | null): void;
  title(title: string): void;
  found(found: Found | null): void;
  link(uri: string | null): void;
  innerLink(link: InnerLink): void;
  /** A program asks for this text to be copied. */
  copy(selection: string, text: string): void;
  /** Requests the scrollback, and holds back output meanwhile. */
  readonly scrolling: Omit<ScrollingDeps, 'type'>;
};

export type Appearance = {
  readonly dark: boolean;
  readonly fontPx: number;
  /** Whether screen readers can read the output; it costs drawing time. */
  readonly screenReader: boolean;
};

/** A terminal on the page, as large as its host element allows. */
export type Screen = {
  readonly terminal: Terminal;
  readonly search: Search;
  readonly scrollback: Scrollback;
  paste(text: string): void;
  size(): Size;
  setAppearance(appearance: Appearance): void;
  /** Follows the host's size; with a size given, keeps that one instead. */
  fit(fixed: Size | undefined): void;
  chooseZoom(zoom: Zoom): void;
  dispose(): void;
};

const makeTerminal = ({ dark, fontPx }: Appearance): Terminal =>
  new Terminal({
    allowProposedApi: true,
    cursorBlink: true,
    fontFamily: FONTS,
    fontSize: fontPx,
    lineHeight: 1.15,
    macOptionIsMeta: true,
    minimumContrastRatio: MINIMUM_CONTRAST,
    rightClickSelectsWord: false,
    scrollback: 10_000,
    theme: themeFor(dark),
  });

function listen(terminal: Terminal, listener: ScreenListener): void {
  terminal.onTitleChange((title) => listener.title(title));
  terminal.onResize((size) => listener.size(size));
}

/** Puts the terminal into `host`, drawn as fast as this machine can; returns what changes its appearance. */
async function draw(
  terminal: Terminal,
  host: HTMLElement,
  fit: () => void,
): Promise<(appearance: Appearance) => void> {
  withAllowedStyles(() => terminal.open(host));
  await loadWebgl(terminal, fit);
  return ({ dark, fontPx, screenReader }) => {
    terminal.options.theme = themeFor(dark);
    terminal.options.fontSize = fontPx;
    terminal.options.screenReaderMode = screenReader;
    fit();
  };
}

/** Opens a terminal that fits `host` exactly by the time this resolves. */
export async function openScreen(
  host: HTMLElement,
  appearance: Appearance,
  listener: ScreenListener,
): Promise<Screen> {
  await fontLoaded();
  const terminal = makeTerminal(appearance);
  let { fontPx, dark } = appearance;
  const fit = fitting(terminal, host, { fontPx: () => fontPx, onZoom: listener.zoom });
  guardParser(terminal);
  loadAddons(terminal, listener);
  handleKeys(terminal, listener);
  const setAppearance = await draw(terminal, host, fit.now);
  setAppearance(appearance);
  listen(terminal, listener);
  const paste = sendInput(terminal, host, listener);
  const scrollback = scrolling(terminal, host, {
    ...listener.scrolling,
    type: (text) => listener.input(latin1(text)),
  });
  terminal.onData(() => scrollback.typed());
  const endings = [followFonts(terminal, fit.now), followCursor(terminal, host), touchScrolling(host)];
  const search = searchIn(terminal, (found) => listener.found(found));
  const screen: Screen = {
    terminal,
    paste,
    scrollback,
    search: {
      ...search,
      async find(...what) {
        await scrollback.searching();
        await search.find(...what);
      },
    },
    size: () => ({ cols: terminal.cols, rows: terminal.rows }),
    setAppearance(next) {
      const isRecoloured = next.dark !== dark;
      ({ fontPx, dark } = next);
      setAppearance(next);
      if (isRecoloured) search.recolour();
    },
    fit: fit.fix,
    chooseZoom: fit.choose,
    dispose() {
      fit.stop();
      for (const end of endings) end();
      scrollback.dispose();
      terminal.dispose();
    },
  };
  // Lets tests of the page reach its terminal.
  Object.assign(host, { berthScreen: screen });
  return screen;
}
