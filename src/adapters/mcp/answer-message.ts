import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { mcpServer } from '../../mcp/server.ts';
import type { ToolContext } from '../../mcp/tool.ts';

const ADDRESS = 'http://berth.invalid/api/mcp';
const VERSION = 'mcp-protocol-version';

export type Message = {
  readonly body: unknown;
  /** As the client named it; null before it knows. */
  readonly protocolVersion: string | null;
};

/**
 * `status` 202 without a body for a notification, 400 for a version that the SDK does not know. `events`: the answer
 * comes last in a stream of server-sent events.
 */
export type Answered = { readonly status: number; readonly body: unknown } | { readonly events: Readable };

/**
 * Answers one message by a server of its own, so nothing is kept between messages. Rejects when the client has `left`.
 * The answer is a stream if the context has `notifies`.
 */
export async function answerMessage(
  context: ToolContext,
  version: string,
  { body, protocolVersion }: Message,
  left: AbortSignal,
): Promise<Answered> {
  const server = mcpServer(context, version);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !context.notifies });
  await server.connect(transport);
  const gone = Promise.withResolvers<never>();
  const stop = (): void => gone.reject(left.reason);
  left.addEventListener('abort', stop, { once: true });
  if (left.aborted) stop();
  let isStreamed = false;
  try {
    const answer = await Promise.race([
      transport.handleRequest(requestOf(protocolVersion), { parsedBody: body }),
      gone.promise,
    ]);
    if (answer.body !== null && answer.headers.get('content-type') === 'text/event-stream') {
      const events = Readable.fromWeb(answer.body as ReadableStream);
      left.addEventListener('abort', () => void events.destroy(), { once: true });
      events.once('close', () => void server.close());
      isStreamed = true;
      return { events };
    }
    return { status: answer.status, body: answer.status === 202 ? null : await answer.json() };
  } finally {
    left.removeEventListener('abort', stop);
    // ends a tool that still runs
    if (!isStreamed) await server.close();
  }
}

/** The route has checked the message and what the client accepts. */
const requestOf = (protocolVersion: string | null): Request =>
  new Request(ADDRESS, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(protocolVersion === null ? {} : { [VERSION]: protocolVersion }),
    },
  });
