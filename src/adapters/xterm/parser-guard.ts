import type { Terminal } from '@xterm/headless';
import { inputHandlerOf } from './internals.ts';

/**
 * xterm.js parses in a timer of its own: what it throws there would end the service, and no callback would follow. A terminal
 * that failed draws nothing from then on.
 */
export function guardParser(terminal: Terminal): { hasFailed(): boolean } {
  const handler = inputHandlerOf(terminal);
  const parse = handler.parse.bind(handler);
  let hasFailed = false;
  handler.parse = (...given) => {
    if (hasFailed) return undefined;
    try {
      return parse(...given);
    } catch {
      hasFailed = true;
      return undefined;
    }
  };
  return { hasFailed: () => hasFailed };
}

/** xterm.js 6.0 throws when it erases up to the last cell of the screen. That is all of the screen, which it can erase. */
export function mendErase(terminal: Terminal): void {
  const handler = inputHandlerOf(terminal);
  const isInLastCell = (): boolean => {
    const { cursorX, cursorY } = terminal.buffer.active;
    return cursorX >= terminal.cols - 1 && cursorY >= terminal.rows - 1;
  };
  const mended = (respectProtect: boolean) => (params: readonly (number | number[])[]) =>
    params[0] === 1 && isInLastCell() && handler.eraseInDisplay({ params: [2] }, respectProtect);
  terminal.parser.registerCsiHandler({ final: 'J' }, mended(false));
  terminal.parser.registerCsiHandler({ prefix: '?', final: 'J' }, mended(true));
}
