import type { FastifyContextConfig, FastifySchema } from 'fastify';

/** A route's configuration, and its schema with its name and summary in the API document. The name is `group.verb`. */
export const operation = <
  const Route extends FastifySchema & { readonly config: Readonly<FastifyContextConfig> },
>(
  operationId: string,
  summary: string,
  { config, ...schema }: Route,
) => ({
  config,
  schema: { operationId, summary, ...schema },
});
