import type { ITheme } from '@xterm/xterm';

const DARK: ITheme = {
  background: '#0f1318',
  foreground: '#dfe4ea',
  cursor: '#5cc8e8',
  cursorAccent: '#0f1318',
  selectionBackground: '#2b5568',
  selectionInactiveBackground: '#2b5568',
  scrollbarSliderBackground: '#9fb0c233',
  scrollbarSliderHoverBackground: '#9fb0c266',
  scrollbarSliderActiveBackground: '#9fb0c299',
  black: '#161b22',
  red: '#c04a4a',
  green: '#2c8049',
  yellow: '#8a6a12',
  blue: '#2f68c0',
  magenta: '#9650b4',
  cyan: '#187d90',
  white: '#e0e5eb',
  brightBlack: '#7d8896',
  brightRed: '#ff9a97',
  brightGreen: '#a1e6ab',
  brightYellow: '#f5d68f',
  brightBlue: '#9cc7ff',
  brightMagenta: '#e2b6f5',
  brightCyan: '#8de1ec',
  brightWhite: '#ffffff',
};

const LIGHT: ITheme = {
  background: '#fdfdfc',
  foreground: '#1c222b',
  cursor: '#0b6a8c',
  cursorAccent: '#fdfdfc',
  selectionBackground: '#b9dcea',
  selectionInactiveBackground: '#b9dcea',
  scrollbarSliderBackground: '#4a576633',
  scrollbarSliderHoverBackground: '#4a576666',
  scrollbarSliderActiveBackground: '#4a576699',
  black: '#1c222b',
  red: '#b3261e',
  green: '#1c7a3e',
  yellow: '#85600a',
  blue: '#1d5fb8',
  magenta: '#8436a8',
  cyan: '#0b7285',
  white: '#e6e9ee',
  brightBlack: '#5f6b7a',
  brightRed: '#c53030',
  brightGreen: '#1f7f45',
  brightYellow: '#8a5f00',
  brightBlue: '#2768c9',
  brightMagenta: '#9242b8',
  brightCyan: '#0e7490',
  brightWhite: '#ffffff',
};

/**
 * The normal colours (30–37) are dark enough to write white on them, as full-screen programs do. `MINIMUM_CONTRAST`
 * lightens or darkens them where they are text.
 */
export const themeFor = (dark: boolean): ITheme => (dark ? DARK : LIGHT);

/**
 * The contrast of text with its background that xterm.js enforces: WCAG 2.2, 1.4.3. Faint text keeps half of it.
 * Without WebGL, xterm.js 6.0 draws reversed text of the default colours in grey, at this contrast.
 */
export const MINIMUM_CONTRAST = 4.5;

/** Colours of search results; the current one stands out. */
export const matchColours = (dark: boolean) => ({
  matchBackground: dark ? '#5c4716' : '#fbe7b0',
  activeMatchBackground: dark ? '#a86a10' : '#f6bd4b',
  matchOverviewRuler: '#c7841a',
  activeMatchColorOverviewRuler: '#ffb347',
});
