import { jsonBytes } from '../../../../domain/json-size.ts';
import type { StreamEnd } from '../../../../domain/terminals/terminal-end.ts';
import type { Scrollback } from '../../../../ports/terminals/terminal-backend.ts';

const ESC = '\x1b';
/** Rows of history to send: enough to scroll back, and not too much for a slow connection. */
export const HISTORY_ROWS = 5_000;
export const HISTORY_BYTES = 1_048_576;
/** As JSON, in which each escape character takes six bytes. */
export const HISTORY_JSON_BYTES = 2 * HISTORY_BYTES;
/** For the first line of SNAPSHOT's output. */
export const FIGURES_BYTES = 256;

const NONE: Scrollback = { program: 'shell', snapshot: null };

/** Parses SNAPSHOT's output: figures, and at most one byte more of text than is sent. */
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

/** Without the partial line at the cut. */
const wholeLines = (lines: Buffer, maxBytes: number): Buffer =>
  lines.length > maxBytes ? lines.subarray(lines.indexOf('\n') + 1) : lines;

/** The most last lines that fit into the JSON limit. */
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
 * Output that fills a terminal's scrollback with a session's history and leaves its screen for the next drawing: cursor
 * and colours are unchanged, and nothing is shown until that drawing is complete.
 */
export function asScrollback(lines: Buffer, rows: number): Buffer {
  const begin = `${ESC}[?2026h${ESC}7${ESC}[r${ESC}[m${ESC})0${ESC}[H${ESC}[2J${ESC}[3J`;
  // This many line feeds after the last line push off what is written, and none of the rows below.
  const end = `${ESC}[m${'\n'.repeat(rows)}${ESC}8`;
  const text = wholeLines(lines, HISTORY_BYTES)
    .toString('latin1')
    .replace(/\n$/, '')
    .replaceAll('\n', '\r\n');
  return Buffer.from(begin + text + end, 'latin1');
}

/** Parses HOW_ENDED's output. A session that may still exist is not over. */
export function endOf(printed: string): StreamEnd {
  const over = /^over (\d{0,3})\n$/.exec(printed);
  if (over === null) return { kind: 'lost' };
  return { kind: 'exited', code: over[1] ? Number(over[1]) : null };
}
