import fc from 'fast-check';
import type { ApiDocument, Parameter, Route } from './api-document.ts';
import { nasty } from './bodies.ts';

type Json = { readonly [key: string]: unknown };

/** A request made from the document alone. */
export type Request = {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly payload?: string;
};

/** Requests of one operation: most are valid, the others break one thing. `ids` are known values for the address. */
export function requestsOf(
  document: ApiDocument,
  route: Route,
  ids: readonly string[],
): fc.Arbitrary<Request> {
  const { method, path, operation } = route;
  const parameters = operation.parameters ?? [];
  const values = valuesOf(document);
  const inPath = parameters.filter((one) => one.in === 'path');
  const inQuery = parameters.filter((one) => one.in === 'query');
  const id = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...ids) }, { weight: 1, arbitrary: segment });
  return fc
    .record({
      path: fc.tuple(...inPath.map(() => id)),
      query: queryOf(inQuery, values.of),
      body: bodyOf(route, values),
    })
    .map(({ path: segments, query, body }) => ({
      method: method as Request['method'],
      url: `${filled(path, inPath, segments)}${query === '' ? '' : `?${query}`}`,
      ...body,
    }));
}

const filled = (path: string, parameters: readonly Parameter[], segments: readonly string[]): string =>
  parameters.reduce(
    (url, { name }, index) => url.replace(`{${name}}`, encodeURIComponent(segments[index] ?? '')),
    path,
  );

const segment = fc.oneof(
  fc.uuid(),
  nasty.map((text) => text.toWellFormed().replaceAll(/^\.+$/g, 'dots')).filter((text) => text !== ''),
);

function queryOf(
  parameters: readonly Parameter[],
  of: (schema: Json) => fc.Arbitrary<unknown>,
): fc.Arbitrary<string> {
  const known = fc.record(Object.fromEntries(parameters.map(({ name, schema }) => [name, of(schema)])), {
    requiredKeys: parameters.filter(({ required }) => required).map(({ name }) => name),
  });
  const broken = fc.dictionary(
    fc.constantFrom('limit', 'cursor', 'x', ...parameters.map(({ name }) => name)),
    nasty,
  );
  return fc
    .oneof({ weight: 5, arbitrary: known }, { weight: 1, arbitrary: broken })
    .map((query) =>
      String(
        new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value).toWellFormed()])),
      ),
    );
}

type Values = ReturnType<typeof valuesOf>;
type Body = Pick<Request, 'headers' | 'payload'>;

function bodyOf({ operation }: Route, values: Values): fc.Arbitrary<Body> {
  const content = operation.requestBody?.content ?? {};
  const [type = 'application/json'] = Object.keys(content);
  const schema = content[type]?.schema;
  const headers = { 'content-type': type };
  if (schema === undefined) return fc.constant({ headers: {} });
  if (type !== 'application/json')
    return nasty.map((payload) => ({ headers, payload: payload.toWellFormed() }));
  const asJson = (value: fc.Arbitrary<unknown>): fc.Arbitrary<Body> =>
    value.map((body) => ({ headers, payload: JSON.stringify(body) ?? 'null' }));
  return fc.oneof(
    { weight: 6, arbitrary: asJson(values.of(schema)) },
    { weight: 2, arbitrary: asJson(values.broken(schema)) },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('{', '', '[]', '"', 'x'.repeat(400_000))
        .map((payload) => ({ headers, payload })),
    },
    { weight: 1, arbitrary: fc.constant({ headers: { 'content-type': 'text/plain' }, payload: 'x' }) },
    { weight: 1, arbitrary: fc.constant({ headers: {} }) },
  );
}

/** Values of schemas, as far as the document uses JSON Schema; a keyword that is not known here throws. */
export function valuesOf({
  components: { schemas },
}: {
  readonly components: Pick<ApiDocument['components'], 'schemas'>;
}) {
  const resolved = (schema: Json): Json => {
    const { $ref } = schema;
    return typeof $ref === 'string' ? resolved(schemas[$ref.split('/').at(-1) ?? ''] ?? {}) : schema;
  };
  const of = (given: Json): fc.Arbitrary<unknown> => {
    const schema = resolved(given);
    const made = plain(schema);
    const { examples } = schema as { examples?: readonly unknown[] };
    return examples === undefined ? made : fc.oneof(fc.constantFrom(...examples), made);
  };
  const plain = (schema: Json): fc.Arbitrary<unknown> => {
    if ('const' in schema) return fc.constant(schema['const']);
    if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
    const { anyOf } = schema as { anyOf?: readonly Json[] };
    if (anyOf !== undefined) return fc.oneof(...anyOf.map(of));
    const [first, ...others] = [schema['type']].flat();
    const main = ofType(String(first), schema);
    return others.length > 0 ? fc.oneof(main, fc.constant(null)) : main;
  };
  const ofType = (type: string, schema: Json): fc.Arbitrary<unknown> => {
    switch (type) {
      case 'string':
        return textOf(schema);
      case 'integer':
        return fc.integer(rangeOf(schema));
      case 'number':
        return fc.integer({ ...rangeOf(schema), min: 1 });
      case 'boolean':
        return fc.boolean();
      case 'null':
        return fc.constant(null);
      case 'array':
        return fc.array(of(schema['items'] as Json), {
          minLength: Number(schema['minItems'] ?? 0),
          maxLength: 3,
        });
      case 'object':
        return objectOf(schema, of);
      default:
        throw new Error(`no values for ${JSON.stringify(schema)}`);
    }
  };
  /** An object with one field that is missing, of another type or unknown. */
  const broken = (given: Json): fc.Arbitrary<unknown> => {
    const { properties = {} } = resolved(given) as { properties?: Json };
    const fields = ['unknown', '__proto__', ...Object.keys(properties)];
    const wrong = fc.oneof(nasty, fc.jsonValue({ maxDepth: 1 }), fc.constant(undefined));
    return fc
      .tuple(of(given), fc.constantFrom(...fields), wrong)
      .map(([value, field, other]) => ({ ...(value as object), [field]: other }));
  };
  return { of, broken };
}

const rangeOf = ({ minimum, maximum }: Json) => ({
  min: Number(minimum ?? 0),
  max: Number(maximum ?? 100_000),
});

function textOf({ pattern, minLength, maxLength, format }: Json): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.constant('2026-01-01T00:00:00.000Z');
  const length = { minLength: Number(minLength ?? 0), maxLength: Math.min(Number(maxLength ?? 40), 40) };
  // Patterns of ours that exclude characters are all satisfied by plain text.
  if (typeof pattern === 'string' && !pattern.startsWith('^[^'))
    return fc.stringMatching(new RegExp(pattern, 'u'));
  return fc.oneof(fc.string({ unit: fc.constantFrom(...'abcxyz019-'), ...length }), fc.string(length));
}

function objectOf(schema: Json, of: (one: Json) => fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  const {
    properties = {},
    required = [],
    additionalProperties,
  } = schema as {
    properties?: { readonly [name: string]: Json };
    required?: readonly string[];
    additionalProperties?: boolean | Json;
  };
  const named = fc.record(
    Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, of(one)])),
    { requiredKeys: [...required] },
  );
  if (typeof additionalProperties !== 'object') return named;
  return fc.dictionary(
    fc.string({ unit: fc.constantFrom(...'ABC_'), minLength: 1, maxLength: 5 }),
    of(additionalProperties),
    { maxKeys: 3 },
  );
}
