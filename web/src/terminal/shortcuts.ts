export type TerminalAction = 'copy' | 'paste' | 'search' | 'leave' | 'larger' | 'smaller' | 'usual_size';

/** The parts of a key press that decide; a `KeyboardEvent` has them. */
export type KeyPress = {
  readonly key: string;
  readonly code: string;
  readonly ctrlKey: boolean;
  readonly shiftKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
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
 * selected, so that it goes on interrupting programs.
 */
export function actionOf(press: KeyPress, hasSelection: boolean): TerminalAction | null {
  const { key, code, ctrlKey, shiftKey, altKey, metaKey } = press;
  if (altKey || !(ctrlKey || metaKey)) return null;
  const size = SIZES[key];
  if (size !== undefined) return size;
  if (ctrlKey && shiftKey) return WITH_SHIFT[code] ?? null;
  if (shiftKey) return null;
  if (code === 'KeyC' && hasSelection) return 'copy';
  if (metaKey) return { KeyV: 'paste' as const, KeyF: 'search' as const }[code] ?? null;
  return null;
}
