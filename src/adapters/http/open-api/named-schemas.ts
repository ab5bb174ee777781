import type { Document, Schema } from './document.ts';

/** Moves each schema with a title to the components, once, and refers to it. */
export function nameSchemas(document: Document): void {
  const { schemas } = document.components;
  const named = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(named);
    if (typeof node !== 'object' || node === null) return node;
    const { title, ...rest } = simplified(node as Schema);
    const schema: Schema = {};
    for (const [key, value] of Object.entries(rest)) schema[key] = named(value);
    if (typeof title !== 'string') return title === undefined ? schema : { ...schema, title: named(title) };
    keep(schemas, title, schema);
    return { $ref: `#/components/schemas/${title}` };
  };
  document.paths = named(document.paths) as Document['paths'];
  document.components.schemas = Object.fromEntries(
    Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
}

function keep(schemas: Document['components']['schemas'], name: string, schema: Schema): void {
  const known = schemas[name];
  if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`two schemas are called ${name}`);
  schemas[name] = schema;
}

type Union = readonly Schema[];

/** The usual form of what our helpers make: `enum` for a union of constants, a list of types for a nullable one. */
function simplified(node: Schema): Schema {
  const { if: few, then, anyOf, ...rest } = node;
  // `Few` and `FewNamed`: the limit of the condition is also outside of it.
  if (few !== undefined && then !== undefined) return { ...rest, ...(then as Schema) };
  if (!Array.isArray(anyOf)) return node;
  const union = anyOf as Union;
  if (union.every((one) => typeof one['const'] === 'string'))
    return { ...rest, type: 'string', enum: union.map((one) => one['const']) };
  const [first, second] = union;
  const isPlain = typeof first?.['type'] === 'string' && first['title'] === undefined;
  return union.length === 2 && isPlain && second?.['type'] === 'null' && !('const' in first)
    ? { ...rest, ...first, type: [first['type'], 'null'] }
    : node;
}
