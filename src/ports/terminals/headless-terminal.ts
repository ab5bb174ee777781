import type { TerminalSize } from '../../domain/terminals/terminal.ts';

/** A headless terminal: it receives a program's output and can describe the result. */
export type HeadlessTerminal = {
  /**
   * Draws the next output, cut anywhere, without answering queries in it. False when it is too expensive or cannot be
   * drawn; the screen is then gone.
   */
  write(bytes: Uint8Array): Promise<boolean>;
  resize(size: TerminalSize): void;
  /**
   * Output that makes an empty terminal of the same size equal: cells, scrollback unless excluded, cursor and modes.
   */
  serialize(withScrollback?: boolean): Buffer;
  end(): void;
};

export type HeadlessTerminals = { open(size: TerminalSize): HeadlessTerminal };
