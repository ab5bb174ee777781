/** `once`: for the next key; `locked`: until it is pressed again. */
export type Latch = 'off' | 'once' | 'locked';
type Modifier = 'ctrl' | 'alt';
export type Modifiers = { readonly [M in Modifier]: Latch };

export const NO_MODIFIERS: Modifiers = { ctrl: 'off', alt: 'off' };

const NEXT = { off: 'once', once: 'locked', locked: 'off' } as const satisfies Record<Latch, Latch>;
const AFTER_A_KEY = { off: 'off', once: 'off', locked: 'locked' } as const satisfies Record<Latch, Latch>;

/** After a press of the modifier's own key. */
export const pressModifier = (modifiers: Modifiers, which: Modifier): Modifiers => ({
  ...modifiers,
  [which]: NEXT[modifiers[which]],
});

/** After another key has been typed. */
export const afterKey = ({ ctrl, alt }: Modifiers): Modifiers => ({
  ctrl: AFTER_A_KEY[ctrl],
  alt: AFTER_A_KEY[alt],
});

export const isAny = ({ ctrl, alt }: Modifiers): boolean => ctrl !== 'off' || alt !== 'off';

/** Ctrl makes these of characters outside of `@` to `~`, as keyboards do. */
const CTRL_OF: Readonly<Record<string, string>> = {
  ' ': '\x00',
  '2': '\x00',
  '3': '\x1b',
  '4': '\x1c',
  '5': '\x1d',
  '6': '\x1e',
  '7': '\x1f',
  '/': '\x1f',
  '-': '\x1f',
  '8': '\x7f',
  '?': '\x7f',
};

function withCtrl(char: string): string {
  const code = char.charCodeAt(0);
  return code >= 64 && code < 127 ? String.fromCharCode(code & 31) : (CTRL_OF[char] ?? char);
}

/** What is sent for a typed text: the modifiers change its first character. */
export function modified(text: string, { ctrl, alt }: Modifiers): string {
  const [first = '', ...rest] = text;
  const changed = ctrl === 'off' ? first : withCtrl(first);
  return (alt === 'off' ? '' : '\x1b') + changed + rest.join('');
}

/** Whether a terminal's input is typed text. Its reports, such as the mouse's, are not, and begin with Escape. */
export const isTyped = (input: string): boolean => !input.startsWith('\x1b');
