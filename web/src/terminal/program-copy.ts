/** A text that a program wants to copy, and who uses its terminal. */
export type CopyRequest = {
  /** What the program names as its goal (OSC 52): `c` for the clipboard; others are selections of X11. */
  readonly selection: string;
  readonly text: string;
  readonly isOwner: boolean;
  /** Whether this user lets programs copy unasked, in this browser. */
  readonly isAllowed: boolean;
};

/**
 * What to do with it. Anyone who can print to a terminal could otherwise put a command into the user's clipboard. So the
 * user is asked, and participants in a shared terminal are not affected.
 */
export function decideCopy({ selection, text, isOwner, isAllowed }: CopyRequest): 'write' | 'ask' | 'ignore' {
  // An empty goal means the clipboard as well.
  if (text === '' || !isOwner || !(selection === '' || selection.includes('c'))) return 'ignore';
  return isAllowed ? 'write' : 'ask';
}

/** How many characters of the text are shown: enough to recognise it. */
const SHOWN = 400;
/** Characters that would hide or reorder the rest of the text, except line breaks and tabs. */
const UNSEEN = /(?![\n\t])[\p{C}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800]/gu;

/** The beginning of the text, with invisible characters as their codes. */
export function shownText(text: string): string {
  const start = text.slice(0, SHOWN).replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  const code = (one: string): string =>
    `<${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`;
  return start.replace(UNSEEN, code) + (text.length > SHOWN ? '…' : '');
}

/** The size of the text, and whether pasting it into a shell would run it immediately. */
export function sizeText(text: string): string {
  const count = (n: number, unit: string): string => `${n.toLocaleString('en')} ${unit}${n === 1 ? '' : 's'}`;
  const full = text.replace(/(\r\n|\r|\n)$/, '');
  const lines = full.split(/\r\n|\r|\n/).length;
  return [
    ...(lines > 1 ? [count(lines, 'line')] : []),
    count(text.length, 'character'),
    ...(full === text ? [] : ['ends with a line break']),
  ].join(', ');
}
