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

/** Words that follow the field's name: `name is required`. */
function wordsOf({ keyword, message, params }: Fault): string {
  switch (keyword) {
    case 'required':
      return 'is required';
    case 'additionalProperties':
      return 'is not a known field';
    case 'type':
      return `must be of type ${(params as { type: string }).type}`;
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
