/** What Berth uses of the input handler of xterm.js, which is not public. The page runs this module too: it imports types only. */
import type { IBufferLine, Terminal } from '@xterm/headless';
import type { Pen } from './cell-style.ts';

export type InputHandler = {
  readonly _curAttrData: Pen;
  parse(data: string | Uint8Array, promiseResult?: boolean): unknown;
  eraseInDisplay(params: Params, respectProtect: boolean): boolean;
} & Record<RepeatedEffect, (params: Params) => boolean>;

type Params = { readonly params: readonly number[] };
export type RepeatedEffect = (typeof REPEATED)[number];

/** Effects that a sequence may repeat. */
const REPEATED = [
  'scrollUp',
  'scrollDown',
  'insertLines',
  'deleteLines',
  'cursorForwardTab',
  'cursorBackwardTab',
  'repeatPrecedingCharacter',
] as const;

const METHODS = ['parse', 'eraseInDisplay', ...REPEATED] as const;

/** Throws when another version of xterm.js has something else in that place. */
export function inputHandlerOf(terminal: object): InputHandler {
  const { _core: core } = terminal as { _core?: { _inputHandler?: Partial<InputHandler> } };
  const handler = core?._inputHandler;
  const isKnown =
    handler?._curAttrData !== undefined && METHODS.every((name) => typeof handler[name] === 'function');
  if (!isKnown) throw new Error('this version of xterm.js has no input handler that Berth knows');
  return handler as InputHandler;
}

/** xterm.js 6.0 throws when it erases up to the last cell of the screen. That is all of the screen, which it can erase. */
export function mendErase(terminal: Pick<Terminal, 'parser' | 'cols' | 'rows' | 'buffer'>): void {
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

/** A line's own cells: colours as numbers with their modes, and whether it continues the line above. */
export type LineCells = { isWrapped: boolean; getFg(column: number): number; getBg(column: number): number };

/** Throws when another version of xterm.js has no such line. */
export function cellsOf(shown: IBufferLine): LineCells {
  const { _line: line } = shown as unknown as { _line?: LineCells };
  if (typeof line?.getFg !== 'function')
    throw new Error('this version of xterm.js has no lines that Berth knows');
  return line;
}
