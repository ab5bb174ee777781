import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import fastifyStatic from '@fastify/static';
import type { Http } from './fastify-types.ts';
import { headersOfDocuments, headersOfPlayback } from './security-headers.ts';

const FOREVER_SECONDS = 31_536_000;

/**
 * The browser app: files by name, documents also without `.html`, and its page for all other addresses that request
 * HTML. Names below `assets/` have a hash, so those are cached for ever.
 */
export async function staticFiles(http: Http, root: string, overHttps: boolean): Promise<void> {
  if (!existsSync(path.join(root, 'index.html'))) return;
  const headers = await headersOfDocuments({ overHttps });
  const ofPlayback = await headersOfPlayback(overHttps);
  await http.register(fastifyStatic, { root, serve: false, cacheControl: false });
  http.get('/*', { config: { scope: 'public' }, schema: { hide: true } }, async (request, reply) => {
    const name = decodeURIComponent(request.url.split('?', 1)[0] ?? '/').slice(1);
    const file = fileOf(root, name);
    const page =
      file === null && (request.headers.accept ?? '').includes('text/html') && !name.startsWith('api/');
    if (file === null && !page && name !== '') return reply.callNotFound();
    reply.headers(page && name.startsWith('recordings/') ? ofPlayback : headers);
    const hashed = name.startsWith('assets/');
    reply.header('cache-control', hashed ? `public, max-age=${FOREVER_SECONDS}, immutable` : 'no-cache');
    return reply.sendFile(file ?? 'index.html');
  });
}

function fileOf(root: string, name: string): string | null {
  if (name === '') return null;
  const isFile = (each: string): boolean => {
    const file = path.join(root, path.normalize(`/${each}`));
    return existsSync(file) && statSync(file).isFile();
  };
  return [name, `${name}.html`].find(isFile) ?? null;
}
