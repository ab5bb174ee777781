import fastifySwagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import type { RouteOptions } from 'fastify';
import type { Http } from '../fastify-types.ts';
import type { Document, Operation, PathItem } from './document.ts';
import { errorExamples, errorHeaders, shareResponses } from './error-responses.ts';
import { addExamples } from './examples.ts';
import { nameSchemas } from './named-schemas.ts';
import { completeOperation } from './operation.ts';
import { errorsOf } from './route-errors.ts';
import { socketItem } from './sockets.ts';
import { tags } from './tags.ts';

const DESCRIPTION = `Self-hosted container workspaces.

Send a credential as \`Authorization: Bearer …\`: a login token of a sign-in, or an API token (\`svc_…\`).
Every error has the same form; branch on its \`code\`. Times are ISO 8601 in UTC.
Every list takes \`limit\` and \`cursor\` (the \`next_cursor\` of the page before), \`sort\` (a field; with \`-\`, in
reverse), and fields to filter by, which must be equal.
Terminals and events are WebSockets, described in the project's \`docs/websockets.md\`.`;

const securitySchemes = {
  loginToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The login token of a session, from `/api/auth/login`. It lives for 15 minutes.',
  },
  apiToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'svc_…',
    description: 'An API token, from `POST /api/tokens`. `write` includes `read`; `admin` includes both.',
  },
  refreshCookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'berth_refresh',
    description: 'Set by every sign-in; scripts cannot read it.',
  },
} as const;

/** `/api/openapi.json`, generated from the schemas that validate. Nothing of it is done before it is requested. */
export async function openApi(http: Http, version: string): Promise<void> {
  const routes = new Map<string, RouteOptions>();
  const options: FastifyDynamicSwaggerOptions = {
    convertConstToEnum: false,
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Berth',
        version,
        description: DESCRIPTION,
        contact: { name: 'The administrators of this installation' },
        license: { name: 'MIT', identifier: 'MIT' } as never,
      },
      servers: [{ url: '/', description: 'This installation' }],
      tags,
      components: { securitySchemes, headers: errorHeaders as never },
    },
    transform: ({ schema, url, route }) => {
      const { operationId } = schema ?? {};
      if (operationId !== undefined) routes.set(operationId, route);
      return { schema, url };
    },
    transformObject: (given) => {
      const document = ('openapiObject' in given ? given.openapiObject : {}) as Document;
      complete(document, routes);
      return document as never;
    },
  };
  await http.register(fastifySwagger, options);
}

function complete(document: Document, routes: ReadonlyMap<string, RouteOptions>): void {
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) completeOne(item, method, operation, routes);
    document.paths[path] = socketItem(item, routes);
  }
  nameSchemas(document);
  shareResponses(document);
  document.components['examples'] = errorExamples(
    [...routes.values()].filter(answersPlainly).flatMap(errorsOf),
  );
  addExamples(document);
}

function completeOne(
  item: PathItem,
  method: string,
  operation: Operation,
  routes: ReadonlyMap<string, RouteOptions>,
): void {
  const route = routes.get(operation.operationId);
  if (route === undefined) throw new Error(`${method} ${JSON.stringify(item)} has no operation id`);
  completeOperation(operation, route);
}

const answersPlainly = ({ config }: RouteOptions): boolean => config?.subprotocol === undefined;
