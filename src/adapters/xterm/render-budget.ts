import type { Terminal } from '@xterm/headless';

/** Drawing competes with all other work of the service, and programs may write expensive output on purpose. */
const MAX_SCREEN_CELLS = 100_000;
/** Changed cells before other work has its turn: some five milliseconds. */
const TURN_CELLS = 1_000_000;
/** Changed cells until a screen is given up, besides those for each byte. */
const MAX_CELLS = 100_000_000;
const CELLS_EACH_BYTE = 100;
/** The cost of a character or another byte, in cells. */
const BYTE_CELLS = 5;
/** Bytes drawn without a break. */
const PIECE_BYTES = 1_024;

export const isTooLarge = ({ cols, rows }: Terminal): boolean => cols * rows > MAX_SCREEN_CELLS;

/** What a handler of xterm.js returns: whether the sequence is done, at once or after a pause. */
export type Handled = boolean | Promise<boolean>;

/** Output in pieces: between two, xterm.js lets other work have its turn when it has drawn for 12 ms. */
export const piecesOf = (bytes: Uint8Array): readonly Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, at) =>
    bytes.subarray(at * PIECE_BYTES, (at + 1) * PIECE_BYTES),
  );

/** Counts the cells that output changes, which is independent of the machine and its other work. */
export class RenderBudget {
  readonly #terminal: Terminal;
  #bytes = 0;
  #cells = 0;
  #cellsInTurn = 0;
  #isInserting = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Each character moves the rest of its row from now on. */
  inserts(): void {
    this.#isInserting = true;
  }

  /** Charges a drawn piece, besides its sequences. */
  drew(piece: Uint8Array): void {
    const { cols, rows, modes } = this.#terminal;
    let lines = 0;
    for (const byte of piece) if (byte >= 0x0a && byte <= 0x0c) lines += 1;
    this.#bytes += piece.length;
    this.#charge(piece.length * (this.#isInserting ? cols : BYTE_CELLS) + lines * (cols + rows));
    this.#isInserting = modes.insertMode;
  }

  /** Charges a change of size, which may move each cell. */
  reflows(): void {
    this.#charge(this.#terminal.buffer.normal.length * this.#terminal.cols);
  }

  /** Charges a sequence. Much work makes it wait; a screen that cost too much changes no more. */
  spend(cells: number, isDone: boolean): Handled {
    this.#charge(cells);
    if (this.isSpent()) return true;
    if (this.#cellsInTurn < TURN_CELLS) return isDone;
    this.#cellsInTurn = 0;
    return new Promise((resolve) => setImmediate(() => resolve(isDone)));
  }

  /** The output so far cost too much. */
  isSpent(): boolean {
    return this.#cells > MAX_CELLS + this.#bytes * CELLS_EACH_BYTE;
  }

  #charge(cells: number): void {
    this.#cells += cells;
    this.#cellsInTurn += cells;
  }
}
