import fastifySwagger from '@fastify/swagger';
import type { Http } from './fastify-types.ts';

/** `/api/openapi.json`, generated from the schemas that validate. */
export async function openApi(http: Http, version: string): Promise<void> {
  await http.register(fastifySwagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Berth', version, description: 'Self-hosted container workspaces.' },
      components: { securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } } },
      security: [{ bearer: [] }],
    },
  });
}
