import type { IBufferCell } from '@xterm/headless';

/** The style of a cell, and of the next one. */
export type Pen = Pick<
  IBufferCell,
  | 'isBold'
  | 'isDim'
  | 'isItalic'
  | 'isUnderline'
  | 'isBlink'
  | 'isInverse'
  | 'isInvisible'
  | 'isStrikethrough'
  | 'isOverline'
  | 'isFgRGB'
  | 'isFgPalette'
  | 'getFgColor'
  | 'isBgRGB'
  | 'isBgPalette'
  | 'getBgColor'
>;

/** Sets this pen, whatever it was. */
export function takePen(pen: Pen): string {
  const flags = [
    pen.isBold() ? 1 : null,
    pen.isDim() ? 2 : null,
    pen.isItalic() ? 3 : null,
    pen.isUnderline() ? 4 : null,
    pen.isBlink() ? 5 : null,
    pen.isInverse() ? 7 : null,
    pen.isInvisible() ? 8 : null,
    pen.isStrikethrough() ? 9 : null,
    pen.isOverline() ? 53 : null,
  ].filter((flag) => flag !== null);
  const front = colour(38, Boolean(pen.isFgRGB()), Boolean(pen.isFgPalette()), pen.getFgColor());
  const back = colour(48, Boolean(pen.isBgRGB()), Boolean(pen.isBgPalette()), pen.getBgColor());
  return `\x1b[${[0, ...flags, ...front, ...back].join(';')}m`;
}

function colour(which: 38 | 48, isRgb: boolean, isPalette: boolean, value: number): readonly number[] {
  if (isRgb) return [which, 2, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];
  if (!isPalette) return [];
  if (value >= 16) return [which, 5, value];
  return [(value < 8 ? which - 8 : which + 52 - 8) + (value & 7)];
}
