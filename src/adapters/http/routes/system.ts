import { Type } from '@sinclair/typebox';
import { RefusalBody } from '../schema/common.ts';
import { LiveBody, ReadyBody, VersionBody } from '../schema/system.ts';
import type { Routes } from '../server.ts';

const publicly = { scope: 'public' } as const;

export type SystemRouteDeps = {
  readonly version: string;
  readonly liveness: () => LiveBody;
  readonly readiness: () => Promise<ReadyBody>;
};

/** Health, version and the description of the interface. */
export const systemRoutes =
  ({ version, liveness, readiness }: SystemRouteDeps): Routes =>
  (http) => {
    http.get(
      '/livez',
      { config: publicly, schema: { response: { 200: LiveBody, 503: Type.Union([LiveBody, RefusalBody]) } } },
      async (_request, reply) => {
        const state = liveness();
        return reply.code(state.status === 'live' ? 200 : 503).send(state);
      },
    );

    http.get(
      '/readyz',
      {
        config: publicly,
        schema: { response: { 200: ReadyBody, 503: Type.Union([ReadyBody, RefusalBody]) } },
      },
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
