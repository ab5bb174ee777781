import type { Terminal } from '@xterm/headless';
import { inputHandlerOf } from './input-handler.ts';

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
