import { jsonBytes } from '../../../domain/json-size.ts';
import type { StreamEnd } from '../../../domain/terminals/terminal-end.ts';
import type { Scrollback } from '../../../ports/terminals/terminal-backend.ts';

const ESC = '\x1b';
/** Rows of history that are sent: what people scroll back to, and not too much for a slow line. */
export const HISTORY_ROWS = 5_000;
export const HISTORY_BYTES = 1_048_576;
/** Of the same as JSON, where each escape character takes six bytes. */
export const HISTORY_JSON_BYTES = 2 * HISTORY_BYTES;
/** For the first line of what SNAPSHOT prints. */
export const FIGURES_BYTES = 256;

const NONE: Scrollback = { program: 'shell', snapshot: null };

/** Takes apart what SNAPSHOT prints: figures, and up to one byte more of text than is sent. */
export function snapshotOf(
  printed: Buffer,
  maxBytes = HISTORY_BYTES,
  maxJsonBytes = HISTORY_JSON_BYTES,
): Scrollback {
  const end = printed.indexOf('\n');
  const first = printed.subarray(0, Math.max(0, end)).toString();
  if (first === 'full_screen') return { program: 'full_screen' };
  if (!/^shell( \d+){5}$/.test(first)) return NONE;
  const [cols = 0, rows = 0, historyRows = 0, cursorX = 0, cursorY = 0] = first
    .split(' ')
    .slice(1)
    .map(Number);
  const lines = wholeLines(printed.subarray(end + 1), maxBytes)
    .toString()
    .replace(/\n$/, '');
  const text = newest(lines, maxJsonBytes);
  return { program: 'shell', snapshot: { cols, rows, historyRows, cursorX, cursorY, text } };
}

/** Without the rest of a line that was cut to so many bytes. */
function wholeLines(lines: Buffer, maxBytes: number): Buffer {
  return lines.length > maxBytes ? lines.subarray(lines.indexOf('\n') + 1) : lines;
}

/** As many of the last lines as fit into so much JSON. */
function newest(lines: string, maxJsonBytes: number): string {
  let left = maxJsonBytes;
  let start = lines.length + 1;
  while (start > 0) {
    const before = start < 2 ? 0 : lines.lastIndexOf('\n', start - 2) + 1;
    left -= jsonBytes(lines.slice(before, start));
    if (left < 0) break;
    start = before;
  }
  return lines.slice(start);
}

/**
 * Output that fills a terminal's scrollback with what HISTORY prints and leaves its screen to whoever draws next: cursor and
 * colours are as before, and nothing is shown until that drawing is complete.
 */
export function asScrollback(lines: Buffer, rows: number, maxBytes = HISTORY_BYTES): Buffer {
  const begin = `${ESC}[?2026h${ESC}7${ESC}[r${ESC}[m${ESC})0${ESC}[H${ESC}[2J${ESC}[3J`;
  // Behind the last line, so many line feeds push off what is written, and none of the rows below it.
  const end = `${ESC}[m${'\n'.repeat(rows)}${ESC}8`;
  const text = wholeLines(lines, maxBytes).toString('latin1').replace(/\n$/, '').replaceAll('\n', '\r\n');
  return Buffer.from(begin + text + end, 'latin1');
}

/** Takes apart what HOW_ENDED prints. A session that may be there still is not over. */
export function endOf(printed: string): StreamEnd {
  const over = /^over (\d{0,3})\n$/.exec(printed);
  if (over === null) return { kind: 'lost' };
  return { kind: 'exited', code: over[1] ? Number(over[1]) : null };
}
