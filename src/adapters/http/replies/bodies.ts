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

/**
 * Returns a function from a domain value to a body with exactly the schema's fields. Throws for a schema without named
 * fields, such as a union of objects.
 */
export function bodyOf<Schema extends TSchema>(schema: Schema) {
  const convert = converter(schema);
  return (value: SourceOf<Static<Schema>>) => convert(value) as Static<Schema>;
}

type Convert = (value: unknown) => unknown;

const toWire: Convert = (value) => (value instanceof Date ? value.toISOString() : value);

function converter(schema: TSchema): Convert {
  const [one = schema, ...others] = alternativesOf(schema).filter(({ type }) => type !== 'null');
  if (others.length === 0 && one['properties'] !== undefined)
    return unlessMissing(objectConverter(one['properties']));
  if (others.length === 0 && one['items'] !== undefined) {
    const item = converter(one['items']);
    return unlessMissing((value) => (value as readonly unknown[]).map(item));
  }
  if ([one, ...others].every(isScalar) || isRecord(one)) return toWire;
  throw new Error(`a body needs a schema that names its fields, not ${JSON.stringify(schema)}`);
}

const alternativesOf = (schema: TSchema): readonly TSchema[] =>
  (schema['anyOf'] as TSchema[] | undefined)?.flatMap(alternativesOf) ?? [schema];

const SCALARS: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean']);

const isScalar = ({ type }: TSchema): boolean => SCALARS.has(type);

/** Names to scalars, as the user gave them. */
const isRecord = ({ patternProperties }: TSchema): boolean =>
  patternProperties !== undefined &&
  Object.values<TSchema>(patternProperties).every((each) => alternativesOf(each).every(isScalar));

const unlessMissing =
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

/** With `cpuShares`, the interface's word for millicores. */
export const withCpuShares = <T extends { readonly cpuMillicores: unknown }>(value: T) => ({
  ...value,
  cpuShares: value.cpuMillicores as T['cpuMillicores'],
});

/** The fields of a validated body, named as in the domain; absent ones stay absent. */
export const fieldsOf = <Body extends object>(body: Body) =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [camelCase(name), value])) as {
    [Name in keyof Body as CamelCase<Name & string>]: Body[Name];
  };
