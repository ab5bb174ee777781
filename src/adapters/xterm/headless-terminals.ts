import serialize from '@xterm/addon-serialize';
import headless from '@xterm/headless';
import type { HeadlessTerminals } from '../../ports/terminals/headless-terminal.ts';
import { limitSequences } from './costly-sequences.ts';
import { GraphemesAddon } from './graphemes.ts';
import { hiddenState } from './hidden-state.ts';
import { mendErase } from './input-handler.ts';
import { guardParser } from './parser-guard.ts';
import { isTooLarge, piecesOf, RenderBudget } from './render-budget.ts';
import { serializeScreen } from './screen-serializer.ts';
import { linesThatFit } from './scrollback-room.ts';

/** A row takes 12 bytes per column. */
const MAX_CELLS = 400_000;
const MAX_LINES = 5_000;
const MAX_SNAPSHOT_BYTES = 1_048_576;

const linesFor = (cols: number): number => Math.min(MAX_LINES, Math.floor(MAX_CELLS / cols));

/** Screens drawn by the browser's own code. */
export const xtermScreens: HeadlessTerminals = {
  open({ cols, rows }) {
    const terminal = new headless.Terminal({
      cols,
      rows,
      scrollback: linesFor(cols),
      allowProposedApi: true,
      logLevel: 'off',
    });
    const serializer = new serialize.SerializeAddon();
    const hidden = hiddenState(terminal);
    const budget = new RenderBudget(terminal);
    const guard = guardParser(terminal);
    mendErase(terminal);
    limitSequences(terminal, budget);
    terminal.loadAddon(serializer);
    // The widths of characters as in the browser, or lines would wrap elsewhere.
    terminal.loadAddon(new GraphemesAddon());
    return {
      async write(bytes) {
        if (isTooLarge(terminal) || budget.isSpent()) return false;
        await Promise.all(piecesOf(bytes).map(drawPiece));
        return !budget.isSpent() && !guard.hasFailed();
      },
      resize(size) {
        budget.reflows();
        terminal.options.scrollback = linesFor(size.cols);
        terminal.resize(size.cols, size.rows);
      },
      serialize(withScrollback = true) {
        const screen = drawn(0);
        if (!withScrollback) return screen;
        // Drawing more lines than may be sent would take long for nothing.
        const room = MAX_SNAPSHOT_BYTES - screen.length;
        let lines = linesThatFit(terminal.buffer.normal, linesFor(terminal.cols), room);
        for (; lines > 0; lines = Math.floor(lines / 2)) {
          const whole = drawn(lines);
          if (whole.length <= MAX_SNAPSHOT_BYTES) return whole;
        }
        return screen;
      },
      end: () => terminal.dispose(),
    };

    function drawPiece(piece: Uint8Array): Promise<void> {
      return new Promise((resolve) =>
        terminal.write(piece, () => {
          budget.drew(piece);
          resolve();
        }),
      );
    }

    function drawn(lines: number): Buffer {
      return Buffer.from(serializeScreen(terminal, serializer, hidden, lines));
    }
  },
};
