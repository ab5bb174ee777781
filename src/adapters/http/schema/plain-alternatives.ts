type Schema = { readonly [keyword: string]: unknown };

/** Those of which the serializer writes null by the keyword `nullable`. */
const NULLABLE: ReadonlySet<unknown> = new Set(['string', 'integer', 'number', 'boolean', 'object', 'array']);

/**
 * The schema of an answer, for its serializer: the same text, without a choice between alternatives where none is
 * needed. The serializer would validate each value against each alternative, which took more time than the rest of a
 * small answer. Words become strings, and `null` beside one alternative becomes `nullable`; other alternatives stay.
 */
export function plainAlternatives(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plainAlternatives);
  if (typeof schema !== 'object' || schema === null) return schema;
  const plain: Schema = Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, plainAlternatives(value)]),
  );
  return Array.isArray(plain['anyOf']) ? joined(plain, plain['anyOf'] as readonly Schema[]) : plain;
}

function joined(schema: Schema, alternatives: readonly Schema[]): Schema {
  const { anyOf: _, ...rest } = schema;
  const others = alternatives.filter(({ type }) => type !== 'null');
  const nullable = others.length < alternatives.length ? { nullable: true } : {};
  const [only, ...more] = others;
  if (only === undefined) return schema;
  if (others.every(isWord)) return { ...rest, type: 'string', ...nullable };
  if (more.length > 0 || !NULLABLE.has(only['type']) || 'const' in only) return schema;
  return { ...rest, ...only, ...nullable };
}

const isWord = (schema: Schema): boolean =>
  typeof schema['const'] === 'string' || (schema['type'] === 'string' && isUnlimited(schema));

/** Without a format, whose text the serializer makes. */
const isUnlimited = (schema: Schema): boolean => schema['format'] === undefined;
