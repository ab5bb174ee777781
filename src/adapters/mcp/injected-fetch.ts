import { Readable } from 'node:stream';
import type { FastifyInstance, InjectOptions } from 'fastify';

/** URLs need a host, though no request leaves the process. */
const SERVER = 'http://berth.invalid';

type Method = NonNullable<InjectOptions['method']>;

/** What a client needs to send its requests to this process, as if they came from `remoteAddress`. */
export const inProcess = (http: FastifyInstance, remoteAddress: string) => ({
  server: SERVER,
  serverName: 'Berth',
  fetch: injectedFetch(http, remoteAddress),
});

/**
 * A `fetch` that hands requests to this process's own routes, as if they came from `remoteAddress`. So the tools pass
 * the same checks as any client: origin, credential, limits, scope and audit.
 */
const injectedFetch =
  (http: FastifyInstance, remoteAddress: string): typeof globalThis.fetch =>
  async (input, init = {}) => {
    const { method = 'GET', headers, body, signal } = init;
    const answer = await http.inject({
      method: method as Method,
      url: String(input).slice(SERVER.length),
      headers: Object.fromEntries(new Headers(headers ?? {})),
      remoteAddress,
      payloadAsStream: true,
      ...(signal ? { signal } : {}),
      ...(body === null || body === undefined ? {} : { payload: Buffer.from(body as ArrayBuffer) }),
    });
    const content = answer.stream();
    // A reader that stops early has left, like a client that hangs up.
    content.once('close', () => answer.raw.res.destroy());
    const stream = Readable.toWeb(content) as ReadableStream<Uint8Array>;
    return new Response(stream, { status: answer.statusCode, headers: headersOf(answer.headers) });
  };

function headersOf(headers: Readonly<Record<string, unknown>>): Headers {
  const all = new Headers();
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) all.set(name, String(value));
  return all;
}
