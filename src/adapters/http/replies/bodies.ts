import type { Static, TSchema } from '@sinclair/typebox';
import { type CamelCase, camelCase } from '../../names.ts';

/** What a body is made of: the same properties, named as in the domain, with times as dates. */
export type SourceOf<Body> = Body extends string
  ? string extends Body
    ? string | Date
    : Body
  : Body extends readonly (infer Item)[]
    ? readonly SourceOf<Item>[]
    : Body extends object
      ? { readonly [Name in keyof Body as CamelCase<Name & string>]: SourceOf<Body[Name]> }
      : Body;

/** Makes bodies of a schema: they have what it names, and nothing else of the value. */
export function bodyOf<Schema extends TSchema>(schema: Schema) {
  const convert = converter(schema);
  return (value: SourceOf<Static<Schema>>) => convert(value) as Static<Schema>;
}

type Convert = (value: unknown) => unknown;

const toWire: Convert = (value) => (value instanceof Date ? value.toISOString() : value);

function converter(schema: TSchema): Convert {
  const structure = (schema['anyOf'] as TSchema[] | undefined)?.find(({ type }) => type !== 'null') ?? schema;
  if (structure['properties'] !== undefined) return orAbsent(objectConverter(structure['properties']));
  if (structure['items'] === undefined) return toWire;
  const item = converter(structure['items']);
  return orAbsent((value) => (value as readonly unknown[]).map(item));
}

const orAbsent =
  (convert: Convert): Convert =>
  (value) =>
    value == null ? value : convert(value);

function objectConverter(properties: Readonly<Record<string, TSchema>>): Convert {
  const fields = Object.entries(properties).map(
    ([name, schema]) => [name, camelCase(name), converter(schema)] as const,
  );
  return (value) => {
    const body: Record<string, unknown> = {};
    for (const [name, source, convert] of fields) {
      const field = (value as Readonly<Record<string, unknown>>)[source];
      if (field !== undefined) body[name] = convert(field);
    }
    return body;
  };
}

/** The fields of a validated body, named as in the domain; absent ones stay absent. */
export const fieldsOf = <Body extends object>(body: Body) =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [camelCase(name), value])) as {
    [Name in keyof Body as CamelCase<Name & string>]: Body[Name];
  };
