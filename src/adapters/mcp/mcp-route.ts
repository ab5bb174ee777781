import { type Static, Type } from '@sinclair/typebox';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Berth } from '../../client/index.ts';
import { Refusal } from '../../domain/errors.ts';
import { isRestricted } from '../../domain/identity/caller.ts';
import type { ToolScope } from '../../mcp/tool.ts';
import { inProcess } from './injected-fetch.ts';

export type McpDeps = {
  readonly version: string;
  /** Cuts the answer off when the caller's credential ends. */
  readonly cutOff: (request: FastifyRequest, reply: FastifyReply) => void;
};

/** As for commands: parsing takes some milliseconds of the event loop. */
const MAX_BODY_BYTES = 262_144;
/** Longer than the longest command. */
const TIMEOUT_MS = 700_000;
const MAX_CONTAINERS = 50;
const STREAM_TYPE = 'text/event-stream';

const McpQuery = Type.Object(
  {
    containers: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4096, description: 'Names or ids, separated by commas.' }),
    ),
    allow_delete: Type.Optional(
      Type.Union([Type.Literal('true'), Type.Literal('false')], { description: 'Offers delete_container.' }),
    ),
  },
  { additionalProperties: false },
);

const McpMessage = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([Type.String({ maxLength: 256 }), Type.Integer()])),
    method: Type.String({ maxLength: 256 }),
    params: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { title: 'McpMessage', additionalProperties: false },
);

const McpAnswer = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    id: Type.Optional(Type.Union([Type.String(), Type.Integer(), Type.Null()])),
    result: Type.Optional(Type.Object({}, { additionalProperties: true })),
    error: Type.Optional(Type.Object({}, { additionalProperties: true })),
  },
  { title: 'McpAnswer' },
);

/** MCP without sessions: any replica answers any message, each with its own server and the credential it came with. */
export function mcpRoute(http: FastifyInstance, deps: McpDeps): void {
  http.route({
    method: 'POST',
    url: '/api/mcp',
    config: { scope: 'read', forRestricted: true, failure: 'failed to answer' },
    bodyLimit: MAX_BODY_BYTES,
    schema: {
      operationId: 'mcp.send',
      summary: 'Send a message of the Model Context Protocol',
      querystring: McpQuery,
      body: McpMessage,
      alsoAs: [STREAM_TYPE],
      response: { 200: McpAnswer, 202: Type.Null({ description: 'Taken: a notification has no answer.' }) },
    },
    handler: async (request, reply) => answer(http, request, reply, deps),
  });
  http.route({
    method: 'GET',
    url: '/api/mcp',
    config: { scope: 'read', forRestricted: true },
    exposeHeadRoute: false,
    schema: {
      operationId: 'mcp.listen',
      summary: 'Refuse a stream of messages, which this service does not send',
      refusals: ['method_not_allowed'],
    },
    handler: async (_request, reply) => {
      reply.header('allow', 'POST');
      throw new Refusal({ code: 'method_not_allowed' });
    },
  });
}

async function answer(http: FastifyInstance, request: FastifyRequest, reply: FastifyReply, deps: McpDeps) {
  // The SDK takes a fifth of a second to load, and most installations never use it.
  const { answerMessage } = await import('./answer-message.ts');
  deps.cutOff(request, reply);
  const left = new AbortController();
  reply.raw.once('close', () => left.abort());
  const berth = new Berth({
    ...inProcess(http, request.origin.ipAddress),
    token: tokenOf(request),
    headers: { 'user-agent': request.origin.userAgent },
    timeoutMs: TIMEOUT_MS,
  });
  const context = { berth, scope: scopeOf(request), notifies: wantsProgress(request) };
  const { 'mcp-protocol-version': named } = request.headers;
  const message = { body: request.body, protocolVersion: typeof named === 'string' ? named : null };
  const answered = await answerMessage(context, deps.version, message, left.signal);
  if ('events' in answered) {
    reply.type(`${STREAM_TYPE}; charset=utf-8`).header('x-accel-buffering', 'no');
    return reply.send(answered.events);
  }
  const { status, body } = answered;
  if (status === 400)
    throw new Refusal({ code: 'validation_failed', fields: { 'MCP-Protocol-Version': 'is not supported' } });
  return status === 202 ? reply.code(202).send() : body;
}

/** Whether the client accepts a stream and its call has a progress token. */
function wantsProgress({ headers, body }: FastifyRequest): boolean {
  const { params } = body as Static<typeof McpMessage>;
  const meta = (params as { readonly _meta?: { readonly progressToken?: unknown } } | undefined)?._meta;
  return meta?.progressToken !== undefined && headers.accept?.includes(STREAM_TYPE) === true;
}

/** The authentication hook has accepted it. */
const tokenOf = ({ headers }: FastifyRequest): string =>
  (headers.authorization ?? '').slice('Bearer '.length).trim();

function scopeOf({ query, caller }: FastifyRequest): ToolScope {
  const { containers, allow_delete } = query as Static<typeof McpQuery>;
  const named = containers?.split(',').map((one) => one.trim()) ?? null;
  if (named !== null && (named.length > MAX_CONTAINERS || named.includes('')))
    throw new Refusal({
      code: 'validation_failed',
      fields: { containers: `must be 1 to ${MAX_CONTAINERS} names or ids, separated by commas` },
    });
  const mayCreate = named === null && !isRestricted(caller);
  return { containers: named, mayCreate, mayDelete: allow_delete === 'true' };
}
