import type { Snapshot } from '../../../../src/protocol/terminal-frames.ts';

const ESC = '\x1b';
const SYNCHRONIZED = `${ESC}[?2026h`;
const DRAW_NOW = `${ESC}[?2026l`;
const SAVE_PEN = `${ESC}7`;
const RESTORE_PEN = `${ESC}8`;
const DEFAULTS = `${ESC}[r${ESC}[m${ESC}(B${ESC}]8;;\x07`;
const CLEAR_ALL = `${ESC}[H${ESC}[2J${ESC}[3J`;

/**
 * Output that fills a terminal's scrollback and screen with a snapshot. It keeps the pen, but not the scroll region, which
 * the multiplexer sets again when it draws.
 */
export function snapshotOutput({
  text,
  cursor_x: x,
  cursor_y: y,
}: Pick<Snapshot, 'text' | 'cursor_x' | 'cursor_y'>): Uint8Array {
  const lines = text.replaceAll('\n', '\r\n');
  const cursor = `${ESC}[${y + 1};${x + 1}H`;
  const parts = [SYNCHRONIZED, SAVE_PEN, DEFAULTS, CLEAR_ALL, lines, RESTORE_PEN, cursor, DRAW_NOW];
  return new TextEncoder().encode(parts.join(''));
}
