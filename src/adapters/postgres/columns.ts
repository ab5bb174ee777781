/** Between rows and values of the domain: the column `user_id` is `userId`. Names are in lists, separated by spaces. */
import { type SnakeCase, snakeCase } from '../names.ts';

type Words<List extends string> = List extends `${infer Word} ${infer Rest}` ? Word | Words<Rest> : List;

/** Arrays are copied. */
type Written<Value> = Value extends readonly (infer Item)[] ? Item[] : Value;

type ColumnsOf<Value, Names extends string> = {
  [Name in Names as SnakeCase<Name>]: Name extends keyof Value ? Written<Value[Name]> : never;
};

const pairsOf = (lists: readonly string[]) =>
  lists.flatMap((list) => list.split(' ')).map((name) => [name, snakeCase(name)] as const);

function renamed(value: object, pairs: readonly (readonly [to: string, from: string])[]) {
  const all: Record<string, unknown> = {};
  for (const [to, from] of pairs) all[to] = (value as Readonly<Record<string, unknown>>)[from];
  return all;
}

/** Returns a reader of exactly these properties. */
export function fromColumns<List extends string>(...lists: readonly List[]) {
  const pairs = pairsOf(lists);
  return <Row extends { readonly [Name in Words<List> as SnakeCase<Name>]: unknown }>(row: Row) =>
    renamed(row, pairs) as { readonly [Name in Words<List>]: Row[SnakeCase<Name> & keyof Row] };
}

function writer<Names extends string>(lists: readonly string[]) {
  const pairs = pairsOf(lists).map(([name, column]) => [column, name] as const);
  return <Value extends object>(value: Value) => {
    const row = renamed(value, pairs);
    for (const [column, field] of Object.entries(row)) if (Array.isArray(field)) row[column] = [...field];
    return row as ColumnsOf<Value, Names>;
  };
}

/** Returns a writer of a value with these properties alone: a new one that the list lacks does not compile. */
export function toColumns<List extends string>(...lists: readonly List[]) {
  const write = writer<Words<List>>(lists);
  return <Value extends { readonly [Name in Words<List>]: unknown }>(
    value: Value & { readonly [Name in Exclude<keyof Value, Words<List>>]: never },
  ) => write<Value>(value);
}

/** Returns a writer of a change of these properties; an undefined or absent one leaves its column as it is. */
export function toChangedColumns<List extends string>(...lists: readonly List[]) {
  const write = writer<Words<List>>(lists);
  return <Value extends object>(value: Words<List> extends keyof Value ? Value : never) =>
    write<Value>(value);
}
