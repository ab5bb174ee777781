export type ScreenSize = { readonly cols: number; readonly rows: number };

/** A terminal that nobody looks at: it takes a program's output, and tells how it would look. */
export type HeadlessTerminal = {
  /**
   * Takes the next output, cut anywhere; when it is on the screen. Answers no question that is in it. False when what
   * comes costs too much to be drawn, or can not be drawn: then there is no screen any more.
   */
  write(bytes: Uint8Array): Promise<boolean>;
  resize(size: ScreenSize): void;
  /** What makes an empty terminal of the same size show the same: cells, scrollback unless told otherwise, cursor and modes. */
  serialize(withScrollback?: boolean): Buffer;
  end(): void;
};

export type HeadlessTerminals = { open(size: ScreenSize): HeadlessTerminal };
