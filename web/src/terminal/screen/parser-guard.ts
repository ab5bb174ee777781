import type { Terminal } from '@xterm/xterm';

/** What the page uses of xterm.js that is not public. */
type InputHandler = {
  parse(data: string | Uint8Array, promiseResult?: boolean): unknown;
  eraseInDisplay(params: { readonly params: readonly number[] }, respectProtect: boolean): boolean;
};
type Guarded = Pick<Terminal, 'parser' | 'cols' | 'rows' | 'buffer' | 'reset'>;

/** Ends a sequence that has begun, and does nothing else. */
const CANCEL = '\x18';

function inputHandlerOf(terminal: Guarded): InputHandler {
  const { _core: core } = terminal as unknown as { _core?: { _inputHandler?: Partial<InputHandler> } };
  const handler = core?._inputHandler;
  if (typeof handler?.parse !== 'function' || typeof handler.eraseInDisplay !== 'function')
    throw new Error('this version of xterm.js has no input handler that the page knows');
  return handler as InputHandler;
}

/**
 * After something was thrown while it parses, xterm.js draws nothing any more and confirms nothing. Here it goes on behind the
 * piece of output that it could not draw, on an empty screen when the next piece fails as well.
 */
function guard(terminal: Guarded, handler: InputHandler, onFault: (error: unknown) => void): void {
  const parse = handler.parse.bind(handler);
  let hasFailed = false;
  let hasWarned = false;
  const recover = (): void => {
    try {
      if (hasFailed) terminal.reset();
      parse(CANCEL);
    } catch {
      // The next piece tries again.
    }
    hasFailed = true;
  };
  handler.parse = (...given) => {
    try {
      const result = parse(...given);
      hasFailed = false;
      return result;
    } catch (error) {
      if (!hasWarned) onFault(error);
      hasWarned = true;
      recover();
      return undefined;
    }
  };
}

/** xterm.js 6.0 throws when it erases up to the last cell of the screen. That is all of the screen, which it can erase. */
function mendErase(terminal: Guarded, handler: InputHandler): void {
  const isInLastCell = (): boolean => {
    const { cursorX, cursorY } = terminal.buffer.active;
    return cursorX >= terminal.cols - 1 && cursorY >= terminal.rows - 1;
  };
  const mended = (respectProtect: boolean) => (params: readonly (number | number[])[]) =>
    params[0] === 1 && isInLastCell() && handler.eraseInDisplay({ params: [2] }, respectProtect);
  terminal.parser.registerCsiHandler({ final: 'J' }, mended(false));
  terminal.parser.registerCsiHandler({ prefix: '?', final: 'J' }, mended(true));
}

const warn = (error: unknown): void => console.warn('The terminal could not draw a piece of output', error);

/** Keeps output that xterm.js fails to draw from stopping the terminal. It warns of the first fault. */
export function guardParser(terminal: Guarded, onFault = warn): void {
  const handler = inputHandlerOf(terminal);
  guard(terminal, handler, onFault);
  mendErase(terminal, handler);
}
