import type { IBuffer, Terminal } from '@xterm/headless';
import headless from '@xterm/headless';
import { GraphemesAddon } from '../../../src/adapters/xterm/graphemes.ts';
import type { ScreenSize } from '../../../src/ports/terminals/headless-terminal.ts';
import { guardParser } from '../../../web/src/terminal/screen/parser-guard.ts';

/** A terminal as the browser has it, but for the window. */
export function aBrowserTerminal({ cols, rows }: ScreenSize, scrollback = 1_000) {
  const terminal = new headless.Terminal({ cols, rows, scrollback, allowProposedApi: true, logLevel: 'off' });
  guardParser(terminal);
  terminal.loadAddon(new GraphemesAddon());
  const answers: string[] = [];
  terminal.onData((answer) => answers.push(answer));
  return {
    terminal,
    answers,
    write: (bytes: string | Uint8Array) => new Promise<void>((resolve) => terminal.write(bytes, resolve)),
    looks: () => looksOf(terminal),
  };
}

/** All that can be seen and felt of a terminal. */
function looksOf({ buffer, modes }: Terminal) {
  const { cursorX, cursorY, type } = buffer.active;
  return {
    cursor: [cursorX, cursorY],
    type,
    modes,
    lines: linesOf(buffer.active),
    normal: linesOf(buffer.normal),
  };
}

/** Without the empty ones at the end: how many there are tells nothing. */
function linesOf(buffer: IBuffer): string[] {
  const lines = Array.from({ length: buffer.length }, (_, at) => {
    const line = buffer.getLine(at);
    const cells = Array.from({ length: line?.length ?? 0 }, (_, column) => {
      const cell = line?.getCell(column);
      if (cell === undefined) return '';
      const isBare = cell.getChars().trim() === '';
      const flags = [cell.isBold(), cell.isItalic(), cell.isInverse(), cell.isUnderline()].map(Boolean);
      const pen = isBare ? '' : `${cell.getFgColorMode()}.${cell.getFgColor()}.${flags}`;
      return `${isBare ? ' ' : cell.getChars()}|${cell.getWidth()}|${cell.getBgColorMode()}.${cell.getBgColor()}|${pen}`;
    });
    return cells.join('\n');
  });
  return lines;
}
