import type { Terminal } from '@xterm/xterm';

const FONT = '"JetBrains Mono Variable"';

export const FONTS = `${FONT}, ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace`;

/** A terminal with another font beats one that does not open. */
const PATIENCE_MS = 1_500;

/** Resolves once the terminal's font can be measured, or after 1.5 s without it. */
export const fontLoaded = (): Promise<unknown> =>
  Promise.race([
    document.fonts.load(`14px ${FONT}`).catch(() => {}),
    new Promise((resolve) => setTimeout(resolve, PATIENCE_MS)),
  ]);

const isOurs = ({ family }: FontFace): boolean => family.replaceAll('"', '') === FONT.replaceAll('"', '');

/**
 * Measures the cells again when the font, or its letters of another script, have come later; `fit` then adapts the
 * terminal to its host. Ends with the returned function.
 */
export function followFonts(terminal: Terminal, fit: () => void): () => void {
  const onLoaded = ({ fontfaces }: FontFaceSetLoadEvent): void => {
    if (!fontfaces.some(isOurs)) return;
    // why: xterm.js measures only when the option changes, and keeps letters that it has drawn
    const { fontFamily } = terminal.options;
    terminal.options.fontFamily = fontFamily === FONTS ? `${FONTS}, monospace` : FONTS;
    terminal.clearTextureAtlas();
    fit();
  };
  document.fonts.addEventListener('loadingdone', onLoaded);
  return () => document.fonts.removeEventListener('loadingdone', onLoaded);
}
