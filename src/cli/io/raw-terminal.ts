import { type Io, printable } from './io.ts';

export type TerminalSize = { readonly cols: number; readonly rows: number };

export type RawListener = {
  input(bytes: Uint8Array): void;
  resized(size: TerminalSize): void;
  /** The terminal or the process is about to end. */
  ended(): void;
};

export type RawTerminal = {
  size(): TerminalSize;
  isRaw(): boolean;
  /** Says something between the program's output. */
  note(words: string): void;
  /**
   * Every key goes to the listener until the returned function restores the terminal. With
   * `reset` it also ends modes that a program may have left on.
   */
  begin(listener: RawListener): (how?: 'reset' | 'as it is') => void;
};

/**
 * Ends modes that a program may have left on: mouse, pasting, keys, the alternate screen, a hidden cursor. The cursor
 * is saved first, because leaving the alternate screen restores it even if that screen is not shown.
 */
export const SOFT_RESET = '\x1b[!p\x1b[?1000;1002;1003;1006;2004l\x1b7\x1b[?1049l\x1b[?25h';

const SIGNALS = ['SIGTERM', 'SIGHUP'] as const;

/** The user's terminal; null when input or output is not one. */
export function rawTerminal({ in: input, out, err }: Io): RawTerminal | null {
  if (!input.isTTY || !out.isTTY) return null;
  let isRaw = false;
  const size = (): TerminalSize => ({ cols: out.columns || 80, rows: out.rows || 24 });
  const restore = (how: 'reset' | 'as it is'): void => {
    if (!isRaw) return;
    isRaw = false;
    input.setRawMode(false);
    if (how === 'reset') out.write(`${SOFT_RESET}\r\n`);
  };
  return {
    size,
    isRaw: () => isRaw,
    note: (words) => void err.write(`\r\n[berth: ${printable(words)}]\r\n`),
    begin({ input: onInput, resized, ended }) {
      const onResize = (): void => resized(size());
      const onExit = (): void => restore('reset');
      isRaw = true;
      input.setRawMode(true);
      input.on('data', onInput).on('end', ended).resume();
      out.on('resize', onResize);
      for (const signal of SIGNALS) process.on(signal, ended);
      process.on('exit', onExit);
      return (how = 'reset') => {
        input.off('data', onInput).off('end', ended).pause();
        out.off('resize', onResize);
        for (const signal of SIGNALS) process.off(signal, ended);
        process.off('exit', onExit);
        restore(how);
      };
    },
  };
}
