import { type Io, isTerminal, jsonText, printableIn } from './io.ts';
import { type Style, styleOf } from './style.ts';
import { tableText } from './table.ts';

export const OUTPUT_FORMS = ['table', 'json', 'name'] as const;
export type OutputForm = (typeof OUTPUT_FORMS)[number];

/** A table's columns: the heading, and the cell of an item. */
export type Columns<T> = Readonly<Record<string, (item: T, style: Style) => string>>;

export type Shown<T> = {
  readonly columns: Columns<T>;
  /** What `-o name` prints, and other commands take. */
  readonly name: (item: T) => string;
  /** Printed on stderr instead of an empty table. */
  readonly empty?: string;
};

export type Printer = {
  readonly form: OutputForm;
  /** All items. `json` prints the array as the service sent it. */
  list<T>(items: readonly T[], shown: Shown<T>): void;
  /** One item: a line of `label value` for each column. */
  one<T>(item: T, shown: Shown<T>): void;
  /** The outcome of a change: the words go to stderr, the answer or its name to stdout. */
  done<T>(answer: T, words: string, name?: string): void;
  /** Data as it is, with a final line break. */
  text(text: string): void;
};

export function printer(io: Io, form: OutputForm, colour: boolean, notify: (line: string) => void): Printer {
  const style = styleOf(io.out, io, colour);
  const text = (lines: string) => void io.out.write(`${lines}\n`);
  const json = (value: unknown) => text(jsonText(value, isTerminal(io.out) ? 2 : undefined));
  return {
    form,
    text,
    list(items, { columns, name, empty }) {
      if (form === 'json') json(items);
      else if (form === 'name') for (const item of printableIn(items)) text(name(item));
      else if (items.length === 0) notify(empty ?? 'nothing to show');
      else text(tableText(headings(columns, style), rows(printableIn(items), columns, style)));
    },
    one(item, { columns, name }) {
      if (form === 'json') json(item);
      else if (form === 'name') text(name(printableIn(item)));
      else text(tableText(['', ''], cells(printableIn(item), columns, style)).replace(/^\n/, ''));
    },
    done(answer, words, name) {
      notify(words);
      if (form === 'json') json(answer);
      else if (form === 'name' && name !== undefined) text(name);
    },
  };
}

const headings = <T>(columns: Columns<T>, style: Style): string[] =>
  Object.keys(columns).map((heading) => style('bold', heading.toUpperCase()));

const rows = <T>(items: readonly T[], columns: Columns<T>, style: Style): string[][] =>
  items.map((item) => Object.values(columns).map((cell) => cell(item, style)));

const cells = <T>(item: T, columns: Columns<T>, style: Style): string[][] =>
  Object.entries(columns).map(([label, cell]) => [style('dim', label), cell(item, style)]);
