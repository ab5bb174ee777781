import AjvCompiler, { type BuildCompilerFromPool } from '@fastify/ajv-compiler';
import SerializerSelector, { type SerializerFactory } from '@fastify/fast-json-stringify-compiler';

type Validate = { (data: unknown): unknown; errors?: unknown };
type Serialize = (data: unknown) => string;

const validators: BuildCompilerFromPool = AjvCompiler();
const serializers: SerializerFactory = SerializerSelector();

/** No body or query of the interface has half as many. */
const MAX_FIELDS = 64;
const TOO_MANY_FIELDS = {
  keyword: 'maxProperties',
  instancePath: '',
  params: { limit: MAX_FIELDS },
  message: `must have at most ${MAX_FIELDS} fields`,
};

/** Whether the validator would find a fault with each of a great number of fields. */
const hasTooMany = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && Object.keys(data).length > MAX_FIELDS;

/** Fastify reads what was wrong from the function itself. */
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

/**
 * Fastify's own compilers, each schema compiled when it is first needed: all of them at once were half of the time of a
 * start, and most routes are not asked in the first seconds.
 */
export const compilers = {
  buildValidator: ((externalSchemas, options) => {
    const compile = validators(externalSchemas, options);
    return (route) => {
      const { schema } = route as unknown as { schema?: { additionalProperties?: unknown } };
      const isClosed = schema?.additionalProperties === false;
      return lazyValidator(isClosed, () => compile(route) as Validate) as ReturnType<typeof compile>;
    };
  }) satisfies BuildCompilerFromPool,
  buildSerializer: ((externalSchemas, options) => {
    const compile = serializers(externalSchemas, options);
    return (route) => lazySerializer(() => compile(route));
  }) satisfies SerializerFactory,
};
