import type { IBufferLine, Terminal } from '@xterm/headless';
import type { Pen } from './cell-style.ts';

/** What the service uses of xterm.js that is not public. The serializer reads the pen in the same place. */
export type InputHandler = {
  readonly _curAttrData: Pen;
  parse(data: string | Uint8Array, promiseResult?: boolean): unknown;
  eraseInDisplay(params: { readonly params: readonly number[] }, respectProtect: boolean): boolean;
};

/** Throws when another version of xterm.js has something else in that place. */
export function inputHandlerOf(terminal: Terminal): InputHandler {
  const { _core: core } = terminal as unknown as { _core?: { _inputHandler?: Partial<InputHandler> } };
  const handler = core?._inputHandler;
  const isKnown =
    typeof handler?.parse === 'function' &&
    typeof handler.eraseInDisplay === 'function' &&
    handler._curAttrData !== undefined;
  if (!isKnown) throw new Error('this version of @xterm/headless has no input handler that Berth knows');
  return handler as InputHandler;
}

/** Takes from a line that it goes on the one above. */
export function unwrap(shown: IBufferLine): void {
  const { _line: line } = shown as unknown as { _line?: { isWrapped: boolean } };
  if (line === undefined) throw new Error('this version of @xterm/headless has no lines that Berth knows');
  line.isWrapped = false;
}
