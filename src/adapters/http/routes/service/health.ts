import { Type } from '@sinclair/typebox';
import type { Caller } from '../../../../domain/identity/caller.ts';
import { operation } from '../../open-api/route-schema.ts';
import { RefusalBody } from '../../schema/common.ts';
import {
  LiveBody,
  OpenApiDocument,
  ReadyAnswer,
  type ReadyBody,
  VersionBody,
} from '../../schema/service/service.ts';
import type { Routes } from '../../server.ts';

const publicly = { scope: 'public' } as const;

export type SystemRouteDeps = {
  readonly version: string;
  readonly liveness: () => LiveBody;
  readonly readiness: () => Promise<ReadyBody>;
};

export const systemRoutes =
  ({ version, liveness, readiness }: SystemRouteDeps): Routes =>
  (http, tokens) => {
    http.get(
      '/livez',
      operation('service.live', 'Tell whether the process is live', {
        config: publicly,
        response: { 200: LiveBody, 503: Type.Union([LiveBody, RefusalBody]) },
      }),
      async (_request, reply) => {
        const state = liveness();
        return reply.code(state.status === 'live' ? 200 : 503).send(state);
      },
    );

    http.get(
      '/readyz',
      operation('service.ready', 'Tell whether every part is ready', {
        config: { ...publicly, detailsForAdmins: true },
        response: { 200: ReadyAnswer, 503: Type.Union([ReadyAnswer, RefusalBody]) },
      }),
      async (request, reply) => {
        const state = await readiness();
        const isAdmin = (request.caller as Caller | null) !== null;
        const answer = isAdmin ? state : withoutDetails(state);
        return reply.code(state.status === 'unready' ? 503 : 200).send(answer);
      },
    );

    http.get(
      '/api/version',
      operation('service.version', 'Read the version', {
        config: publicly,
        response: { 200: VersionBody },
      }),
      async () => ({
        name: 'berth',
        version,
      }),
    );

    openApiRoute(http, tokens);
  };

/** Written once: a request must not serialise hundreds of kilobytes. */
const openApiRoute: Routes = (http) => {
  let text: string | null = null;
  http.get(
    '/api/openapi.json',
    operation('service.openApi', 'Read this document', {
      config: publicly,
      response: { 200: OpenApiDocument },
    }),
    async (_request, reply) => {
      text ??= JSON.stringify(http.swagger());
      return reply.type('application/json; charset=utf-8').send(text as never);
    },
  );
};

/** For everybody: the status of each part, without versions, paths or reasons. */
const withoutDetails = ({ status, parts }: ReadyBody): ReadyAnswer => {
  const { database, engine, image, disk, isolation, resources } = parts;
  const plain = ({ status }: ReadyBody['parts']['engine']) => ({ status });
  return {
    status,
    parts: {
      database: plain(database),
      engine: plain(engine),
      image: plain(image),
      disk: plain(disk),
      isolation: plain(isolation),
      resources: plain(resources),
    },
  };
};
