import fastifySwaggerUi from '@fastify/swagger-ui';
import type { RouteOptions } from 'fastify';
import type { Http } from '../fastify-types.ts';
import { headersOfDocuments } from '../security-headers.ts';
import { READER } from './reference-reader.ts';

const PREFIX = '/docs';

/** Follows the system's colour scheme, as the app does. */
const COLOURS = `const dark = matchMedia('(prefers-color-scheme: dark)');
const apply = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', apply);
apply();
`;

/** Swagger UI forgets these in its dark mode. */
const STYLES = '.dark-mode .swagger-ui .headers-wrapper .header-col { color: #e4e6e6; }\n';

type InPage = { asReader<T>(request: T): Promise<T> };

/** Gives what the library will register our scope and headers; before the hook that refuses routes without a scope. */
export async function publishReferencePage(http: Http, overHttps: boolean): Promise<void> {
  const headers = { ...(await headersOfDocuments({ overHttps })), 'cache-control': 'no-cache' };
  http.addHook('onRoute', (route) => {
    if (route.url === PREFIX || route.url.startsWith(`${PREFIX}/`)) publish(route, headers);
  });
}

/**
 * The document as a page, which can also send requests. It has the app's headers and requests nothing from elsewhere; a
 * credential stays in the page's memory, and the reader's own is not shown.
 */
export async function referencePage(http: Http): Promise<void> {
  await http.register(fastifySwaggerUi, {
    routePrefix: PREFIX,
    uiConfig: {
      layout: 'BaseLayout',
      docExpansion: 'none',
      deepLinking: true,
      displayRequestDuration: true,
      persistAuthorization: false,
      // The page gets the text of this function.
      requestInterceptor: (request) => (globalThis as unknown as InPage).asReader(request),
      showMutatedRequest: false,
    },
    theme: {
      title: 'Berth API',
      css: [{ filename: 'colours.css', content: STYLES }],
      js: [
        { filename: 'colours.js', content: COLOURS },
        { filename: 'reader.js', content: READER },
      ],
    },
    uiHooks: {
      onRequest: (request, reply, done) => {
        // The page's own address of the document; only ours is written once.
        if (request.routeOptions.url === `${PREFIX}/json`) reply.redirect('/api/openapi.json');
        else done();
      },
    },
  });
}

function publish(route: RouteOptions, headers: Readonly<Record<string, string>>): void {
  route.config = { ...route.config, scope: 'public' };
  route.onRequest = [
    (_request, reply, done) => {
      reply.headers(headers);
      done();
    },
    ...[route.onRequest ?? []].flat(),
  ];
}
