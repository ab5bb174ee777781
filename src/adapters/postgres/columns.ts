import { type SnakeCase, snakeCase } from '../names.ts';

/** Between rows and values of the domain: the column `user_id` is `userId`. Names are in lists, separated by spaces. */
type Words<List extends string> = List extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : List;

type Writable<Value> = Value extends readonly (infer Item)[] ? Item[] : Value;

/** The columns of a value's properties. */
export type ColumnsOf<Value> = {
  -readonly [Name in keyof Value & string as SnakeCase<Name>]: Writable<Value[Name]>;
};

const pairsOf = (lists: readonly string[]) =>
  lists.flatMap((list) => list.split(' ')).map((name) => [name, snakeCase(name)] as const);

function renamed(value: object, pairs: readonly (readonly [to: string, from: string])[]) {
  const all: Record<string, unknown> = {};
  for (const [to, from] of pairs) all[to] = (value as Readonly<Record<string, unknown>>)[from];
  return all;
}

/** Reads exactly these properties from a row. */
export function fromColumns<List extends string>(...lists: readonly List[]) {
  const pairs = pairsOf(lists);
  return <Row extends { readonly [Name in Words<List> as SnakeCase<Name>]: unknown }>(row: Row) =>
    renamed(row, pairs) as { readonly [Name in Words<List>]: Row[SnakeCase<Name> & keyof Row] };
}

/** Writes exactly these properties of a value; undefined leaves a column as it is, or gives it its default. */
export function toColumns<List extends string>(...lists: readonly List[]) {
  const pairs = pairsOf(lists).map(([name, column]) => [column, name] as const);
  return <Value extends { readonly [Name in Words<List>]?: unknown }>(value: Value) =>
    renamed(value, pairs) as { [Name in Words<List> as SnakeCase<Name>]: Writable<Value[Name]> };
}
