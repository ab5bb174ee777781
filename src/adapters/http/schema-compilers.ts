import AjvCompiler, { type BuildCompilerFromPool } from '@fastify/ajv-compiler';
import SerializerSelector, { type SerializerFactory } from '@fastify/fast-json-stringify-compiler';
import { plainAlternatives } from './schema/plain-alternatives.ts';

type Validate = { (data: unknown): unknown; errors?: unknown };
type Serialize = (data: unknown) => string;

const validators: BuildCompilerFromPool = AjvCompiler();
const serializers: SerializerFactory = SerializerSelector();

/** More than twice what any body or query has. */
const MAX_FIELDS = 64;
const TOO_MANY_FIELDS = {
  keyword: 'maxProperties',
  instancePath: '',
  params: { limit: MAX_FIELDS },
  message: `must have at most ${MAX_FIELDS} fields`,
};

/** Whether the validator would report too many faults, one per field. */
const hasTooMany = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && Object.keys(data).length > MAX_FIELDS;

/** Fastify reads the errors from the function itself. */
function lazyValidator(isClosed: boolean, compile: () => Validate): Validate {
  let made: Validate | null = null;
  const validate: Validate = (data) => {
    if (isClosed && hasTooMany(data)) {
      validate.errors = [TOO_MANY_FIELDS];
      return false;
    }
    made ??= compile();
    const verdict = made(data);
    validate.errors = made.errors;
    return verdict;
  };
  return validate;
}

function lazySerializer(compile: () => Serialize): Serialize {
  let made: Serialize | null = null;
  return (data) => {
    made ??= compile();
    return made(data);
  };
}

const madeValidators = new WeakMap<object, Validate>();
const madeSerializers = new WeakMap<object, Serialize>();

/** Schemas are constants, so several services in one process share the result. */
function onceFor<T>(known: WeakMap<object, T>, schema: object, make: () => T): T {
  const made = known.get(schema) ?? make();
  known.set(schema, made);
  return made;
}

/**
 * Fastify's compilers, each schema compiled on first use: compiling all took half of a start, and most routes are
 * unused at first.
 */
export const compilers = {
  buildValidator: ((externalSchemas, options) => {
    const compile = validators(externalSchemas, options);
    return (route) => {
      const { schema } = route as unknown as { schema: { additionalProperties?: unknown } };
      const isClosed = schema.additionalProperties === false;
      const make = () => lazyValidator(isClosed, () => compile(route) as Validate);
      return onceFor(madeValidators, schema, make) as ReturnType<typeof compile>;
    };
  }) satisfies BuildCompilerFromPool,
  buildSerializer: ((externalSchemas, options) => {
    const compile = serializers(externalSchemas, options);
    return (route) => {
      const { schema } = route as unknown as { schema: object };
      const make = () => compile({ ...route, schema: plainAlternatives(schema) } as typeof route);
      return onceFor(madeSerializers, schema, () => lazySerializer(make));
    };
  }) satisfies SerializerFactory,
};
