import type { IBuffer, IBufferLine } from '@xterm/headless';
import { cellsOf } from './input-handler.ts';

/** Bytes of a colour in a sequence, by its mode: default, of 16, of 256, of all. */
const COLOUR_BYTES = [2, 3, 9, 17] as const;
const SEQUENCE_BYTES = 4;
const LINE_END_BYTES = 2;

/** How many of the newest lines above the screen fit into that much output, at most `most`. */
export function linesThatFit(buffer: IBuffer, most: number, maxBytes: number): number {
  let bytes = 0;
  let count = 0;
  while (count < most && count < buffer.baseY) {
    const line = buffer.getLine(buffer.baseY - count - 1);
    if (line !== undefined) bytes += bytesOf(line);
    if (bytes > maxBytes) break;
    count += 1;
  }
  return count;
}

/** Close to what the serializer writes for it; much faster. */
function bytesOf(line: IBufferLine): number {
  const cells = cellsOf(line);
  let bytes = Buffer.byteLength(line.translateToString(true)) + LINE_END_BYTES;
  let [front, back] = [0, 0];
  for (let column = 0; column < line.length; column += 1) {
    const [nextFront, nextBack] = [cells.getFg(column), cells.getBg(column)];
    if (nextFront !== front || nextBack !== back)
      bytes += SEQUENCE_BYTES + colourBytes(nextFront) + colourBytes(nextBack);
    front = nextFront;
    back = nextBack;
  }
  return bytes;
}

const colourBytes = (colour: number): number => COLOUR_BYTES[(colour >>> 24) & 3] ?? 0;
