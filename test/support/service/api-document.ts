import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';

type Json = { readonly [key: string]: unknown };
export type Media = { readonly [type: string]: { readonly schema: Json } };
type Described = { readonly content?: Media; readonly description: string };
export type Parameter = {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Json;
};

export type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly security: readonly Json[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Media };
  readonly responses: { readonly [status: string]: Described | { readonly $ref: string } };
  readonly 'x-berth-scope': string;
  readonly 'x-berth-for-restricted-tokens'?: boolean;
};

export type ApiDocument = {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: { readonly [path: string]: { readonly [method: string]: Operation } };
  readonly components: {
    readonly schemas: { readonly [name: string]: Json };
    readonly responses: { readonly [name: string]: Described };
    readonly securitySchemes: Json;
  };
};

export type Route = { readonly method: string; readonly path: string; readonly operation: Operation };
export type Answer = {
  readonly statusCode: number;
  readonly headers: { readonly [name: string]: unknown };
  readonly body: string;
};

const METHODS: ReadonlySet<string> = new Set(['get', 'post', 'put', 'patch', 'delete']);

export const operationsOf = ({ paths }: ApiDocument): readonly Route[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([method]) => METHODS.has(method))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

/** Judges answers and values by the document alone. A field that a schema does not name is a fault. */
export function judge(document: ApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, code: { optimize: false } });
  addFormats.default(ajv);
  ajv.addSchema(withoutOthers(document), 'document');
  const compiled = new Map<string, ValidateFunction>();
  const check = (pointer: string): ValidateFunction => {
    const known = compiled.get(pointer) ?? ajv.compile({ $ref: `document#${pointer}` });
    compiled.set(pointer, known);
    return known;
  };
  const faultsOf = (pointer: string, value: unknown): string | null => {
    const validate = check(pointer);
    return validate(value) ? null : ajv.errorsText(validate.errors);
  };
  return {
    faultsOf,
    /** What an answer has that its description lacks; null for nothing. */
    faultOf({ method, path, operation }: Route, { statusCode, headers, body }: Answer): string | null {
      const found = operation.responses[statusCode];
      if (found === undefined) return `status ${statusCode} is not described: ${body.slice(0, 200)}`;
      const isShared = '$ref' in found;
      const { content } = isShared ? resolve(document, found.$ref) : found;
      if (content === undefined && body === '') return null;
      const type = String(headers['content-type'] ?? '').split(';')[0] ?? '';
      if (content?.[type] === undefined) return `${statusCode} as ${type} is not described`;
      if (type !== 'application/json') return null;
      const place = isShared
        ? found.$ref.slice(1)
        : pointerOf('paths', path, method.toLowerCase(), 'responses', `${statusCode}`);
      const fault = faultsOf(`${place}${pointerOf('content', type, 'schema')}`, JSON.parse(body));
      return fault === null ? null : `${statusCode} ${fault}: ${body.slice(0, 300)}`;
    },
  };
}

const resolve = ({ components }: ApiDocument, ref: string): Described =>
  components.responses[ref.split('/').at(-1) ?? ''] ?? { description: '' };

export const pointerOf = (...keys: readonly string[]): string =>
  keys
    .map(
      (key) =>
        `/${key.replaceAll('~', '~0').replaceAll('/', '~1').replaceAll('{', '%7B').replaceAll('}', '%7D')}`,
    )
    .join('');

/** The document with all objects closed but errors, some of which have fields of their own. */
function withoutOthers(document: ApiDocument): Json {
  const closed = (node: unknown): unknown => {
    if (Array.isArray(node)) return node.map(closed);
    if (typeof node !== 'object' || node === null) return node;
    const all = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, closed(value)]));
    const isOpen =
      all['type'] === 'object' &&
      all['properties'] !== undefined &&
      all['additionalProperties'] === undefined;
    return isOpen ? { ...all, additionalProperties: false } : all;
  };
  const { schemas } = document.components;
  const strict = Object.entries(schemas).map(([name, one]) => [name, name === 'Error' ? one : closed(one)]);
  return { ...document, components: { ...document.components, schemas: Object.fromEntries(strict) } };
}
