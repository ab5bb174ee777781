import type { SerializeAddon } from '@xterm/addon-serialize';
import type { IBuffer, IBufferLine, Terminal } from '@xterm/headless';
import { type Pen, takePen } from './cell-style.ts';
import type { HiddenState } from './hidden-state.ts';
import { cellsOf, inputHandlerOf } from './input-handler.ts';
import { rowsOf } from './row-serializer.ts';

const ONE_LINE = { range: { start: 0, end: 0 } } as const;
const TO_ALTERNATE = '\x1b[?1049h\x1b[H';

/** A screen as output that draws it on an empty one. */
export function serializeScreen(
  terminal: Terminal,
  serializer: SerializeAddon,
  hidden: HiddenState,
  scrollback: number,
): string {
  const { normal, active } = terminal.buffer;
  unwrapEmpty(normal);
  const lines = serializer.serialize({ scrollback, excludeModes: true, excludeAltBuffer: true });
  const alternate = alternateOf(serializer);
  // Resets the pen between the two screens; the switch saves the cursor.
  const leave = `\x1b[m\x1b[${normal.cursorY + 1};${normal.cursorX + 1}H${TO_ALTERNATE}`;
  const drawn = alternate === null ? '' : leave + alternate + rowsOf(terminal, active);
  return [
    lines,
    rowsOf(terminal, normal),
    drawn,
    takePen(penOf(terminal)),
    modesOf(serializer),
    hidden.output(),
    cursorOf(terminal, hidden.hasRegion()),
  ].join('');
}

/**
 * Where a line continues in a row with an empty first cell, the serializer starts no row: all later ones would be one
 * row too high, and the scrollback one row too short.
 */
function unwrapEmpty(buffer: IBuffer): void {
  for (let at = 0; at < buffer.length; at += 1) {
    const line = buffer.getLine(at);
    if (line?.isWrapped && line.getCell(0)?.getChars() === '') unwrap(line);
  }
}

/** The serializer gives this only after the normal screen, which is removed here. */
function alternateOf(serializer: SerializeAddon): string | null {
  const both = serializer.serialize({ ...ONE_LINE, excludeModes: true });
  const normal = serializer.serialize({ ...ONE_LINE, excludeModes: true, excludeAltBuffer: true });
  return both.length === normal.length ? null : both.slice(normal.length + TO_ALTERNATE.length);
}

function modesOf(serializer: SerializeAddon): string {
  const without = serializer.serialize({ ...ONE_LINE, excludeModes: true, excludeAltBuffer: true });
  return serializer.serialize({ ...ONE_LINE, excludeAltBuffer: true }).slice(without.length);
}

/**
 * Restores the cursor: drawing leaves it elsewhere in a full line, and margins and origin mode move it home. Only a
 * character puts it after the last column.
 */
function cursorOf(terminal: Terminal, hasRegion: number | null): string {
  const { buffer, modes, cols } = terminal;
  const { cursorX, cursorY, baseY } = buffer.active;
  const top = modes.originMode ? (hasRegion ?? 0) : 0;
  const to = (column: number): string => `\x1b[${cursorY - top + 1};${column + 1}H`;
  if (cursorX < cols) return to(cursorX);
  const line = buffer.active.getLine(baseY + cursorY);
  const isWide = line?.getCell(cols - 1)?.getWidth() === 0;
  const column = isWide ? cols - 2 : cols - 1;
  const cell = line?.getCell(column);
  if (cell === undefined) return to(cols - 1);
  return to(column) + takePen(cell) + (cell.getChars() || ' ') + takePen(penOf(terminal));
}

const penOf = (terminal: Terminal): Pen => inputHandlerOf(terminal)._curAttrData;

/** Marks a line as one that does not continue the line above. */
function unwrap(shown: IBufferLine): void {
  cellsOf(shown).isWrapped = false;
}
