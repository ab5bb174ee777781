import { FitAddon } from '@xterm/addon-fit';
import type { Terminal } from '@xterm/xterm';
import type { Size } from '../../../../src/client/terminal/terminal-protocol.ts';

const DEBOUNCE_MS = 60;
const MIN_FONT_PX = 6;

/** Keeps a terminal as large as its host, or at a given size. */
export type Fitting = {
  now(): void;
  /** Keeps a size that another window decides; undefined to follow the host again. */
  fix(size: Size | undefined): void;
  stop(): void;
};

/** `fontPx`: the size of the letters where there is room for them. */
export function fitting(terminal: Terminal, host: HTMLElement, fontPx: () => number): Fitting {
  const fitter = new FitAddon();
  let fixed: Size | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = (): void => {
    if (!host.isConnected) return;
    if (fixed === undefined) {
      terminal.options.fontSize = fontPx();
      fitter.fit();
      return;
    }
    shrinkTo(fixed);
    terminal.resize(fixed.cols, fixed.rows);
  };
  /** Smaller letters show all of a screen that is larger than this window. */
  const shrinkTo = ({ cols, rows }: Size): void => {
    const room = fitter.proposeDimensions();
    if (room === undefined) return;
    const present = terminal.options.fontSize ?? fontPx();
    const fits = present * Math.min(room.cols / cols, room.rows / rows);
    const next = Math.max(MIN_FONT_PX, Math.min(fontPx(), Math.floor(fits * 2) / 2));
    if (next !== present) terminal.options.fontSize = next;
  };
  const observer = new ResizeObserver(() => {
    clearTimeout(timer);
    timer = setTimeout(now, DEBOUNCE_MS);
  });
  terminal.loadAddon(fitter);
  observer.observe(host);
  return {
    now,
    fix(size) {
      fixed = size;
      now();
    },
    stop() {
      clearTimeout(timer);
      observer.disconnect();
    },
  };
}
