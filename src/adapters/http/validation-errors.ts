import type { FastifyError } from 'fastify';
import type { FieldFaults } from '../../domain/field-faults.ts';

type Fault = NonNullable<FastifyError['validation']>[number];

/** For a route that checks its body itself: answered like the same fault of a schema. */
export class UnknownFields extends Error {
  override name = 'UnknownFields';
  readonly validation: readonly Pick<Fault, 'keyword' | 'instancePath' | 'params'>[];

  constructor(fields: readonly string[]) {
    super(`unknown fields: ${fields.length}`);
    this.validation = fields.map((additionalProperty) => ({
      keyword: 'additionalProperties',
      instancePath: '',
      params: { additionalProperty },
    }));
  }
}

/** `/env/PATH` and a missing `name` both become the top-level field's name. */
function fieldOf({ instancePath, params }: Fault): string {
  const [, top] = instancePath.split('/');
  if (top) return top;
  const { missingProperty, additionalProperty } = params as Record<string, string | undefined>;
  return missingProperty ?? additionalProperty ?? 'body';
}

/** Words for a limit, by the keyword of the schema. */
const LIMITS: Readonly<Record<string, (limit: number) => string>> = {
  minimum: (limit) => `must be at least ${limit}`,
  maximum: (limit) => `must be at most ${limit}`,
  exclusiveMinimum: (limit) => `must be above ${limit}`,
  exclusiveMaximum: (limit) => `must be below ${limit}`,
  minLength: (limit) => `must have at least ${limit} ${limit === 1 ? 'character' : 'characters'}`,
  maxLength: (limit) => `must have at most ${limit} characters`,
  minItems: (limit) => `must have at least ${limit} ${limit === 1 ? 'entry' : 'entries'}`,
  maxItems: (limit) => `must have at most ${limit} entries`,
  minProperties: (limit) => `must have at least ${limit} ${limit === 1 ? 'entry' : 'entries'}`,
  maxProperties: (limit) => `must have at most ${limit} entries`,
};

/** Words that follow the field's name: `name is required`. */
function wordsOf({ keyword, message, params }: Fault): string {
  const { limit } = params as { limit?: number };
  if (limit !== undefined && LIMITS[keyword] !== undefined) return LIMITS[keyword](limit);
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'type':
      return `must be of type ${(params as { type: string }).type}`;
    case 'const':
    case 'enum':
    case 'anyOf':
      return 'is not one of the allowed values';
    case 'pattern':
      return 'has characters that are not allowed';
    default:
      return message ?? 'is not valid';
  }
}

/** The first fault of each field. */
export function validationFields(error: FastifyError): FieldFaults {
  const fields: Record<string, string> = Object.create(null);
  for (const fault of error.validation ?? []) fields[fieldOf(fault)] ??= wordsOf(fault);
  return { ...fields };
}
