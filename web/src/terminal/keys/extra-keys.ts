import { type Modifiers, modified } from './modifiers.ts';

/** What a key sends: plain text, or a sequence that names the modifiers. */
type Sends =
  | { readonly kind: 'text'; readonly text: string }
  /** An arrow, Home or End: `ESC [ final`, in programs that ask for it `ESC O final`. */
  | { readonly kind: 'cursor'; readonly final: string }
  /** `ESC [ number ~` */
  | { readonly kind: 'numbered'; readonly number: number };

type Shown = {
  /** Its accessible name. */
  readonly name: string;
  /** On the key. */
  readonly face: string;
  /** Sends it again while it stays pressed. */
  readonly repeats?: true;
};

type ExtraKey = Shown & Sends;
export type BarKey =
  | ExtraKey
  | (Shown & { readonly kind: 'modifier'; readonly modifier: 'ctrl' | 'alt' })
  | (Shown & { readonly kind: 'paste'; readonly icon: 'paste' });

const text = (name: string, face: string, sent: string): BarKey => ({ name, face, kind: 'text', text: sent });
const character = (name: string, sent: string): BarKey => text(name, sent, sent);
const cursor = (name: string, face: string, final: string): BarKey => ({
  name,
  face,
  kind: 'cursor',
  final,
  ...(face.length === 1 && { repeats: true }),
});
const numbered = (name: string, face: string, number: number): BarKey => ({
  name,
  face,
  kind: 'numbered',
  number,
  repeats: true,
});

/** The keys that on-screen keyboards lack or hide, in two rows of equal length. */
export const EXTRA_KEYS: readonly (readonly BarKey[])[] = [
  [
    text('Esc, escape', 'Esc', '\x1b'),
    character('Slash', '/'),
    character('Pipe', '|'),
    character('Tilde', '~'),
    character('Hyphen', '-'),
    { name: 'Paste', face: '', kind: 'paste', icon: 'paste' },
    cursor('Home', 'Home', 'H'),
    cursor('Up', '↑', 'A'),
    cursor('End', 'End', 'F'),
    numbered('PgUp, page up', 'PgUp', 5),
  ],
  [
    text('Tab', 'Tab', '\t'),
    text('Shift+Tab', '⇧Tab', '\x1b[Z'),
    { name: 'Ctrl, control', face: 'Ctrl', kind: 'modifier', modifier: 'ctrl' },
    { name: 'Alt', face: 'Alt', kind: 'modifier', modifier: 'alt' },
    text('^C, interrupt', '^C', '\x03'),
    numbered('Del, delete', 'Del', 3),
    cursor('Left', '←', 'D'),
    cursor('Down', '↓', 'B'),
    cursor('Right', '→', 'C'),
    numbered('PgDn, page down', 'PgDn', 6),
  ],
];

/** The number of xterm's sequences for the modifiers; 1 for none. */
const numberOf = ({ ctrl, alt }: Modifiers): number => 1 + (alt === 'off' ? 0 : 2) + (ctrl === 'off' ? 0 : 4);

/** What the key sends. `applicationCursor`: the program asked for the other form of cursor keys. */
export function sequenceOf(key: Sends, modifiers: Modifiers, applicationCursor: boolean): string {
  const number = numberOf(modifiers);
  switch (key.kind) {
    case 'text':
      return modified(key.text, modifiers);
    case 'cursor':
      if (number > 1) return `\x1b[1;${number}${key.final}`;
      return `\x1b${applicationCursor ? 'O' : '['}${key.final}`;
    case 'numbered':
      return number > 1 ? `\x1b[${key.number};${number}~` : `\x1b[${key.number}~`;
  }
}
