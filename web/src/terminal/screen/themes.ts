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
  black: '#3a4450',
  red: '#f0787a',
  green: '#7fd08f',
  yellow: '#e3bd6b',
  blue: '#74aef0',
  magenta: '#cf97e6',
  cyan: '#62c9d6',
  white: '#c8d0d9',
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
  white: '#5d6774',
  brightBlack: '#5f6b7a',
  brightRed: '#c53030',
  brightGreen: '#1f7f45',
  brightYellow: '#8a5f00',
  brightBlue: '#2768c9',
  brightMagenta: '#9242b8',
  brightCyan: '#0e7490',
  brightWhite: '#3a4350',
};

export const themeFor = (dark: boolean): ITheme => (dark ? DARK : LIGHT);

/**
 * Programs choose colours for a dark screen; on a light one they are darkened until they can be read. Not where
 * WebGL is missing: the other renderer of xterm.js 6.0 then takes reversed text for unreadable.
 */
export const contrastFor = (dark: boolean, webgl: boolean): number => (dark || !webgl ? 1 : 4.5);

/** Colours of search results; the current one stands out. */
export const matchColours = (dark: boolean) => ({
  matchBackground: dark ? '#5c4716' : '#fbe7b0',
  activeMatchBackground: dark ? '#a86a10' : '#f6bd4b',
  matchOverviewRuler: '#c7841a',
  activeMatchColorOverviewRuler: '#ffb347',
});
