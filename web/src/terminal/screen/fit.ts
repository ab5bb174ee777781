import { FitAddon } from '@xterm/addon-fit';
import type { Terminal } from '@xterm/xterm';
import type { Size } from '../../../../src/client/terminal/terminal-protocol.ts';
import { fittedFont, type Zoom, zoomOf } from './zoom.ts';

const DEBOUNCE_MS = 60;

/** Keeps a terminal as large as its host, or at a given size. */
export type Fitting = {
  now(): void;
  /** Keeps a size that another window decides; undefined to follow the host again. */
  fix(size: Size | undefined): void;
  /** How a size that is larger than the host is shown from now on. */
  choose(zoom: Zoom): void;
  stop(): void;
};

export type FitOptions = {
  /** The size of the letters where there is room for them. */
  readonly fontPx: () => number;
  /** Gets how a larger size is shown; null where there is nothing to choose. */
  readonly onZoom: (zoom: Zoom | null) => void;
};

export function fitting(terminal: Terminal, host: HTMLElement, { fontPx, onZoom }: FitOptions): Fitting {
  const fitter = new FitAddon();
  let fixed: Size | undefined;
  let chosen: Zoom | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = (): void => {
    if (!host.isConnected) return;
    if (fixed === undefined) {
      onZoom(null);
      terminal.options.fontSize = fontPx();
      fitter.fit();
      return;
    }
    keep(fixed);
    terminal.resize(fixed.cols, fixed.rows);
  };
  const keep = ({ cols, rows }: Size): void => {
    const room = fitter.proposeDimensions();
    if (room === undefined) return;
    const present = terminal.options.fontSize ?? fontPx();
    const fitsPx = present * Math.min(room.cols / cols, room.rows / rows);
    const zoom = zoomOf(fitsPx, fontPx(), chosen);
    onZoom(zoom);
    if (zoom !== 'full') host.scrollTo(0, 0);
    const next = zoom === 'full' ? fontPx() : fittedFont(fitsPx, fontPx());
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
    choose(zoom) {
      chosen = zoom;
      now();
    },
    stop() {
      clearTimeout(timer);
      observer.disconnect();
    },
  };
}
