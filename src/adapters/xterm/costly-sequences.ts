import type { IFunctionIdentifier, Terminal } from '@xterm/headless';
import { inputHandlerOf, type RepeatedEffect } from './input-handler.ts';
import type { Handled, RenderBudget } from './render-budget.ts';

/** The longest text of a cell that may be repeated. */
const MAX_REPEATED_LENGTH = 32;
const PRINTED_CELLS = 10;
const SCREENS = new Set([47, 1047, 1049]);
const INSERT_MODE = 4;

type Size = Pick<Terminal, 'cols' | 'rows'>;
type Cost = (size: Size) => number;

const wholeScreen: Cost = ({ cols, rows }) => cols * rows;
const oneRow: Cost = ({ cols }) => cols;
const oneLine: Cost = ({ cols, rows }) => cols + rows;

/** Sequences with a fixed largest effect. */
const CSI: readonly (readonly [IFunctionIdentifier, Cost])[] = [
  [{ final: 'J' }, wholeScreen],
  [{ prefix: '?', final: 'J' }, wholeScreen],
  [{ final: 'K' }, oneRow],
  [{ prefix: '?', final: 'K' }, oneRow],
  ...['@', 'P', 'X'].map((final) => [{ final }, oneRow] as const),
  ...['@', 'A'].map((final) => [{ intermediates: ' ', final }, wholeScreen] as const),
  ...['}', '~'].map((final) => [{ intermediates: "'", final }, wholeScreen] as const),
];

/** Repeated effects, of which those beyond a screen change nothing. */
const REPEATED: readonly {
  readonly final: string;
  readonly method: RepeatedEffect;
  readonly most: Cost;
  readonly cost: Cost;
}[] = [
  { final: 'S', method: 'scrollUp', most: ({ rows }) => rows, cost: oneLine },
  { final: 'T', method: 'scrollDown', most: ({ rows }) => rows, cost: oneLine },
  { final: 'L', method: 'insertLines', most: ({ rows }) => rows, cost: oneLine },
  { final: 'M', method: 'deleteLines', most: ({ rows }) => rows, cost: oneLine },
  { final: 'I', method: 'cursorForwardTab', most: oneRow, cost: () => 1 },
  { final: 'Z', method: 'cursorBackwardTab', most: oneRow, cost: () => 1 },
];

/**
 * Charges sequences that cost far more than their length suggests, and limits their repetitions to those that change the
 * screen. Register it after all other handlers: xterm.js asks the newest first.
 */
export function limitSequences(terminal: Terminal, budget: RenderBudget): void {
  const handler = inputHandlerOf(terminal);
  const parser = terminal.parser as unknown as Parser;
  for (const [id, cost] of CSI) parser.registerCsiHandler(id, () => budget.spend(cost(terminal), false));
  for (const { final, method, most, cost } of REPEATED) {
    parser.registerCsiHandler({ final }, ([given]) => {
      const times = Math.min(Number(given) || 1, most(terminal));
      handler[method]({ params: [times] });
      return budget.spend(times * cost(terminal), true);
    });
  }
  parser.registerCsiHandler({ final: 'b' }, ([given]) => {
    const times = repetitions(terminal, Number(given) || 1);
    if (times > 0) handler.repeatPrecedingCharacter({ params: [times] });
    const each = terminal.modes.insertMode ? terminal.cols : PRINTED_CELLS;
    return budget.spend(times * each, true);
  });
  limitScreens(terminal, parser, budget);
}

/** Typed as in a page: without a window, the types lack handlers that pause. */
type Parser = {
  registerCsiHandler(
    id: IFunctionIdentifier,
    handle: (params: readonly (number | readonly number[])[]) => Handled,
  ): unknown;
  registerEscHandler(id: IFunctionIdentifier, handle: () => Handled): unknown;
  registerOscHandler(id: number, handle: () => Handled): unknown;
};

function limitScreens(terminal: Terminal, parser: Parser, budget: RenderBudget): void {
  for (const final of ['h', 'l']) {
    parser.registerCsiHandler({ prefix: '?', final }, (params) => {
      const isSwitch = params.flat().some((mode) => SCREENS.has(mode));
      return budget.spend(isSwitch ? wholeScreen(terminal) : 1, false);
    });
  }
  parser.registerCsiHandler({ final: 'h' }, (params) => {
    if (params.flat().includes(INSERT_MODE)) budget.inserts();
    return false;
  });
  const reset: Cost = (size) => wholeScreen(size) + (terminal.options.scrollback ?? 0);
  const escapes = [
    [{ final: 'c' }, reset],
    [{ intermediates: '#', final: '8' }, wholeScreen],
    ...['D', 'E', 'M'].map((final) => [{ final }, oneLine] as const),
  ] as const;
  for (const [id, cost] of escapes) parser.registerEscHandler(id, () => budget.spend(cost(terminal), false));
  // A snapshot has no links, and each would make all later lines costlier.
  parser.registerOscHandler(8, () => true);
}

/**
 * How often to print a repeated character: more than a screen of it only fills the scrollback, so full rows are
 * omitted there. None of a cell that has very much text.
 */
function repetitions(terminal: Terminal, times: number): number {
  const { cursorX, cursorY, baseY } = terminal.buffer.active;
  const line = terminal.buffer.active.getLine(baseY + cursorY);
  const before = line?.getCell(cursorX - 1);
  const isWide = before?.getWidth() === 0;
  const cell = isWide ? line?.getCell(cursorX - 2) : before;
  if ((cell?.getChars().length ?? 0) > MAX_REPEATED_LENGTH) return 0;
  const most = wholeScreen(terminal);
  const inRow = isWide ? Math.floor(terminal.cols / 2) : terminal.cols;
  return times <= most ? times : most + ((times - most) % inRow);
}
