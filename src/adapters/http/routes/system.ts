import { LiveBody, ReadyBody, VersionBody } from '../schema/system.ts';
import type { Routes } from '../server.ts';

const publicly = { scope: 'public' } as const;

export type SystemRouteDeps = { readonly version: string; readonly readiness: () => Promise<ReadyBody> };

/** Health, version and the description of the interface. */
export const systemRoutes =
  ({ version, readiness }: SystemRouteDeps): Routes =>
  (http) => {
    http.get('/livez', { config: publicly, schema: { response: { 200: LiveBody } } }, async () => ({
      status: 'live',
    }));

    http.get(
      '/readyz',
      { config: publicly, schema: { response: { 200: ReadyBody, 503: ReadyBody } } },
      async (_request, reply) => {
        const state = await readiness();
        return reply.code(state.status === 'unready' ? 503 : 200).send(state);
      },
    );

    http.get('/api/version', { config: publicly, schema: { response: { 200: VersionBody } } }, async () => ({
      name: 'berth',
      version,
    }));

    http.get('/api/openapi.json', { config: publicly, schema: { hide: true } }, async () => http.swagger());
  };
