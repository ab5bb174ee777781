import 'asciinema-player/dist/bundle/asciinema-player.css';
import { create, type Player } from 'asciinema-player';
import { themeFor } from '../terminal/screen/themes.ts';

/** Longer pauses are shortened to this on request. */
const PAUSE_SECONDS = 2;

/** In the order in which terminals number their colours. */
const COLOURS = [
  'black',
  'red',
  'green',
  'yellow',
  'blue',
  'magenta',
  'cyan',
  'white',
  'brightBlack',
  'brightRed',
  'brightGreen',
  'brightYellow',
  'brightBlue',
  'brightMagenta',
  'brightCyan',
  'brightWhite',
] as const;

export type PlaybackOptions = {
  readonly dark: boolean;
  readonly skipPauses: boolean;
  /** The moment that is shown before it is played. */
  readonly posterSeconds: number;
};

const sheet = new CSSStyleSheet();
document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];

/** Shows a recording in `host`, in the colours of the terminal. */
export function playback(
  host: HTMLElement,
  cast: string,
  { dark, skipPauses, posterSeconds }: PlaybackOptions,
): Player {
  const theme = themeFor(dark);
  const colours = [
    `--term-color-foreground: ${theme.foreground}`,
    `--term-color-background: ${theme.background}`,
    ...COLOURS.map((name, index) => `--term-color-${index}: ${theme[name]}`),
  ];
  // why: the player reads plain colours of its own element, and knows nothing of light and dark
  sheet.replaceSync(`div.ap-player.asciinema-player-theme-berth { ${colours.join('; ')} }`);
  return create({ data: cast }, host, {
    theme: 'berth',
    fit: 'both',
    controls: true,
    preload: true,
    poster: `npt:${posterSeconds}`,
    terminalFontFamily: getComputedStyle(document.documentElement).getPropertyValue('--mono'),
    ...(skipPauses ? { idleTimeLimit: PAUSE_SECONDS } : {}),
  });
}
