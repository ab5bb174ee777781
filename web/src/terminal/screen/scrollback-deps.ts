import type { Size } from '../../../../src/client/terminal/terminal-protocol.ts';
import type { FrozenScreenDeps, ScrollbackOutput } from './frozen-screen.ts';

/** Questions to the service. */
export type ScrollbackService = FrozenScreenDeps['service'] & {
  /** Asks for a snapshot; `answered` follows. */
  requestSnapshot(id: number): void;
};

/** The terminal of the page. */
type ScrollbackView = FrozenScreenDeps['view'] & {
  /** Scrolls to this many rows above the newest screen, once all output so far is drawn. */
  showAbove(rows: number): void;
  /** Types this many arrow keys: up for less than 0, down for more. */
  arrows(count: number): void;
  /** Rows between what is shown and the newest screen. */
  above(): number;
  size(): Size;
  hasSelection(): boolean;
};

export type ScrollbackDeps = {
  readonly service: ScrollbackService;
  readonly output: ScrollbackOutput;
  readonly view: ScrollbackView;
  nowMs(): number;
};
