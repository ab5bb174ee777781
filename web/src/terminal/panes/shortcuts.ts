import type { Direction } from './pane-geometry.ts';

/** An action on the panes. */
export type PaneAction = 'split_right' | 'split_below' | 'close_pane' | `go_${Direction}`;

export type TerminalAction =
  | 'copy'
  | 'paste'
  | 'search'
  | 'leave'
  | 'larger'
  | 'smaller'
  | 'usual_size'
  | PaneAction;

/** The parts of a key press that decide; a `KeyboardEvent` has them. */
export type KeyPress = {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
};

/** The state of the page that its keys depend on. */
export type KeyState = { readonly hasSelection: boolean; readonly severalPanes: boolean };

const SPLITS: Readonly<Record<string, PaneAction>> = { KeyE: 'split_right', KeyO: 'split_below' };
/** A program may need these keys while there is only one pane. */
const AMONG_PANES: Readonly<Record<string, PaneAction>> = {
  KeyX: 'close_pane',
  ArrowLeft: 'go_left',
  ArrowRight: 'go_right',
  ArrowUp: 'go_up',
  ArrowDown: 'go_down',
};
const WITH_SHIFT: Readonly<Record<string, TerminalAction>> = {
  KeyC: 'copy',
  KeyV: 'paste',
  KeyF: 'search',
  KeyL: 'leave',
};
const SIZES: Readonly<Record<string, TerminalAction>> = {
  '+': 'larger',
  '=': 'larger',
  '-': 'smaller',
  '0': 'usual_size',
};

/**
 * What a key press means for the page; null: it belongs to the shell. Ctrl+C copies only while something is
 * selected, so that it still interrupts programs.
 */
export function actionOf(press: KeyPress, state: KeyState): TerminalAction | null {
  const { key, code, ctrlKey, shiftKey, altKey, metaKey } = press;
  if (altKey || !(ctrlKey || metaKey)) return null;
  const size = SIZES[key];
  if (size !== undefined) return size;
  if (ctrlKey && shiftKey) return WITH_SHIFT[code] ?? paneAction(press, state.severalPanes);
  if (shiftKey) return null;
  if (code === 'KeyC' && state.hasSelection) return 'copy';
  if (metaKey) return { KeyV: 'paste' as const, KeyF: 'search' as const }[code] ?? null;
  return null;
}

/** What a key press does with the panes. */
export function paneAction(press: KeyPress, severalPanes: boolean): PaneAction | null {
  const { code, ctrlKey, shiftKey, altKey, metaKey } = press;
  if (!(ctrlKey && shiftKey) || altKey || metaKey) return null;
  return SPLITS[code] ?? (severalPanes ? (AMONG_PANES[code] ?? null) : null);
}

/** Whether a key that is held down goes on with this action. */
export const repeats = (action: TerminalAction): boolean =>
  ['paste', 'larger', 'smaller', 'usual_size'].includes(action);

export const isPaneAction = (action: TerminalAction): action is PaneAction =>
  /^(split|close|go)_/.test(action);
