import type { Terminal } from '@xterm/headless';
import { inputHandlerOf } from './input-handler.ts';

/**
 * xterm.js parses in its own timer: an error there would end the service, without a callback. A failed terminal draws
 * nothing more.
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
