import { FitAddon } from '@xterm/addon-fit';
import type { Terminal } from '@xterm/xterm';
import type { Size } from '../protocol.ts';

const DEBOUNCE_MS = 60;

/** Keeps a terminal as large as its host, or at a given size. */
export type Fitting = {
  now(): void;
  /** A size that somebody else rules; undefined to follow the host again. */
  fix(size: Size | undefined): void;
  stop(): void;
};

export function fitting(terminal: Terminal, host: HTMLElement): Fitting {
  const fitter = new FitAddon();
  let fixed: Size | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = (): void => {
    if (fixed !== undefined) terminal.resize(fixed.cols, fixed.rows);
    else if (host.isConnected) fitter.fit();
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
