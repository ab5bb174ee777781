import type { FastifySchema } from 'fastify';

/** The schema of a route, with its name and its summary in the API document. The name is `group.verb`. */
export const operation = <const S extends FastifySchema>(
  operationId: string,
  summary: string,
  schema: S,
) => ({
  operationId,
  summary,
  ...schema,
});
