import type { Terminal } from '@xterm/xterm';
import {
  type InputHandler,
  inputHandlerOf,
  mendErase,
} from '../../../../src/adapters/xterm/input-handler.ts';

type Guarded = Pick<Terminal, 'parser' | 'cols' | 'rows' | 'buffer' | 'reset'>;

/** Ends a sequence that has begun, and does nothing else. */
const CANCEL = '\x18';

/**
 * After a fault in its parser xterm.js draws and confirms nothing more. This skips the piece of output that it could not
 * draw, and empties the screen when the next piece fails too.
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

const warn = (error: unknown): void => console.warn('The terminal could not draw a piece of output', error);

/** Keeps output that xterm.js fails to draw from stopping the terminal. It warns of the first fault. */
export function guardParser(terminal: Guarded, onFault = warn): void {
  guard(terminal, inputHandlerOf(terminal), onFault);
  mendErase(terminal);
}
