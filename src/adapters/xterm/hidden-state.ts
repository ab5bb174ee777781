import type { Terminal } from '@xterm/headless';

/** A terminal's state besides its cells and reported modes. */
export type HiddenState = {
  /** Output that sets it on a new terminal. */
  output(): string;
  /** Rows above the scroll region; null when all rows scroll. */
  hasRegion(): number | null;
};

/** Private modes with their defaults: cursor visibility and mouse reports. */
const NORMALLY: ReadonlyMap<number, boolean> = new Map([
  [25, true],
  [1005, false],
  [1006, false],
  [1015, false],
  [1016, false],
]);

/** A browser shows less of it. */
const MAX_TITLE_LENGTH = 1_024;

type Region = { readonly top: number; readonly bottom: number };

/** Tracks a terminal from its start. */
export function hiddenState(terminal: Terminal): HiddenState {
  const modes = new Map(NORMALLY);
  let region: Region | null = null;
  let cursorStyle = 0;
  let title = '';
  const { parser } = terminal;
  const reset = (): boolean => {
    for (const [mode, on] of NORMALLY) modes.set(mode, on);
    region = null;
    cursorStyle = 0;
    return false;
  };
  const setModes = (on: boolean) => (params: (number | number[])[]) => {
    for (const mode of params.flat()) if (modes.has(mode)) modes.set(mode, on);
    return false;
  };
  parser.registerCsiHandler({ prefix: '?', final: 'h' }, setModes(true));
  parser.registerCsiHandler({ prefix: '?', final: 'l' }, setModes(false));
  parser.registerCsiHandler({ final: 'r' }, (params) => {
    const top = Math.max(1, Number(params[0]) || 1);
    const bottom = Math.min(terminal.rows, Number(params[1]) || terminal.rows);
    if (bottom > top) region = top === 1 && bottom === terminal.rows ? null : { top, bottom };
    return false;
  });
  parser.registerCsiHandler({ intermediates: ' ', final: 'q' }, (params) => {
    cursorStyle = Number(params[0]) || 0;
    return false;
  });
  parser.registerCsiHandler({ intermediates: '!', final: 'p' }, reset);
  parser.registerEscHandler({ final: 'c' }, reset);
  terminal.onTitleChange((now) => {
    title = now.slice(0, MAX_TITLE_LENGTH);
  });
  // A resize resets the scroll region.
  terminal.onResize(() => {
    region = null;
  });
  return {
    output() {
      const changed = [...modes].filter(([mode, on]) => NORMALLY.get(mode) !== on);
      return [
        ...changed.map(([mode, on]) => `\x1b[?${mode}${on ? 'h' : 'l'}`),
        region === null ? '' : `\x1b[${region.top};${region.bottom}r`,
        cursorStyle === 0 ? '' : `\x1b[${cursorStyle} q`,
        title === '' ? '' : `\x1b]2;${title}\x07`,
      ].join('');
    },
    hasRegion: () => (region === null ? null : region.top - 1),
  };
}
