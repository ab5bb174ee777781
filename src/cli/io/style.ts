import { styleText } from 'node:util';
import { type Io, isTerminal } from './io.ts';

type TextStyle = Parameters<typeof styleText>[0];

/** Colours text for one stream, or leaves it as it is. */
export type Style = (style: TextStyle, text: string) => string;

const PLAIN: Style = (_style, text) => text;
const COLOURED: Style = (style, text) => styleText(style, text, { validateStream: false });

/** Colour only on a terminal, and with neither `--no-color` nor `NO_COLOR`. */
export function styleOf(stream: NodeJS.WriteStream, { env }: Io, wanted: boolean): Style {
  const coloured = wanted && !env['NO_COLOR'] && env['TERM'] !== 'dumb' && isTerminal(stream);
  return coloured ? COLOURED : PLAIN;
}
