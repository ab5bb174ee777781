import type { IBuffer, IBufferLine, Terminal } from '@xterm/headless';
import { takePen } from './cell-style.ts';

/**
 * Draws each row in its place. The serializer alone writes them as one text: it omits coloured empty cells after the
 * last text, and leaves marks where a line was split.
 */
export function rowsOf({ rows, cols }: Terminal, buffer: IBuffer): string {
  let drawn = '';
  for (let row = 0; row < rows; row += 1) {
    const line = buffer.getLine(buffer.baseY + row);
    if (line !== undefined) drawn += `\x1b[${row + 1}H${rowOf(line, cols)}`;
  }
  return drawn;
}

function rowOf(line: IBufferLine, cols: number): string {
  let drawn = '';
  let pen = '';
  let empty = 0;
  let width = 1;
  const leaveEmpty = (): void => {
    if (empty > 0) drawn += `\x1b[${empty}X\x1b[${empty}C`;
    empty = 0;
  };
  for (let column = 0; column < cols; column += 1) {
    const cell = line.getCell(column);
    if (cell === undefined) continue;
    const isSecondHalf = width === 2;
    width = cell.getWidth();
    // It comes with the first half, unless an insertion has separated them: then it is an empty cell.
    if (width === 0 && isSecondHalf) continue;
    const chars = cell.getChars();
    const wanted = takePen(cell);
    if (wanted !== pen || chars !== '') leaveEmpty();
    if (wanted !== pen) drawn += wanted;
    pen = wanted;
    if (chars === '') empty += 1;
    else drawn += chars;
  }
  leaveEmpty();
  return drawn;
}
