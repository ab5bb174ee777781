import type { StreamEnd } from '../../domain/terminal-end.ts';

const ESC = '\x1b';
/** Lines of history that are sent: what people scroll back to, and not too much for a slow line. */
export const HISTORY_LINES = 5_000;
export const HISTORY_BYTES = 1_048_576;
/** A number of our own: other terminals ignore it. It tells that the lines above are complete. */
const HISTORY_MARK = `${ESC}]7711;history\x07`;

export type LookBack = { readonly fullScreen: boolean; readonly lines: Buffer };

/** Takes apart what LOOK_BACK prints. */
export function lookBackOf(printed: Buffer): LookBack {
  const end = printed.indexOf('\n');
  const first = printed.subarray(0, end < 0 ? printed.length : end).toString();
  return { fullScreen: first === '1', lines: end < 0 ? Buffer.alloc(0) : printed.subarray(end + 1) };
}

/**
 * Output that fills a terminal's scrollback with these lines and leaves its screen to whoever draws next: cursor and
 * colours are as before, and nothing is shown until that drawing is complete.
 */
export function asScrollback(lines: Buffer, rows: number): Buffer {
  const begin = `${ESC}[?2026h${ESC}7${ESC}[r${ESC}[m${ESC})0${ESC}[H${ESC}[2J${ESC}[3J`;
  // Behind the last line, so many line feeds push off what is written, and none of the rows below it.
  const end = `${ESC}[m${'\n'.repeat(rows)}${ESC}8${HISTORY_MARK}`;
  const text = lines.toString('latin1').replace(/\n$/, '').replaceAll('\n', '\r\n');
  return Buffer.from(begin + text + end, 'latin1');
}

/** Takes apart what HOW_ENDED prints. A session that may be there still is not over. */
export function endOf(printed: string): StreamEnd {
  const over = /^over (\d{0,3})\n$/.exec(printed);
  if (over === null) return { kind: 'lost' };
  return { kind: 'exited', code: over[1] ? Number(over[1]) : null };
}
