import { type IncomingMessage, ServerResponse } from 'node:http';
import fastifyHelmet from '@fastify/helmet';
import Fastify from 'fastify';
import type { ArrivalStep } from './arrival.ts';

/** For data: browsers must not run, frame or store it. */
const OF_DATA = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
} as const;

const NAMES = Object.keys(OF_DATA) as (keyof typeof OF_DATA)[];
const LINES = new Map(NAMES.map((name) => [name, `${name}: ${OF_DATA[name]}\r\n`]));
const ALL_LINES = [...LINES.values()].join('');

type HeaderWriter = { _storeHeader(firstLine: string, headers: unknown): void };
/** Node.js has no documented way to write headers that were checked before. */
const writesLines = typeof (ServerResponse.prototype as unknown as HeaderWriter)._storeHeader === 'function';

/**
 * An answer that starts with the headers for data, except those that it has otherwise, as lines made once: Node.js
 * checks each character of a header for each answer, which costs a small request a twentieth of its time.
 */
export class DataAnswer<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Empty for an answer that did not arrive at a route. */
  requestId = '';

  _storeHeader(firstLine: string, headers: unknown): void {
    const begin =
      this.requestId === ''
        ? firstLine
        : `${firstLine}${linesBeside(headers)}x-request-id: ${this.requestId}\r\n`;
    (ServerResponse.prototype as unknown as HeaderWriter)._storeHeader.call(this, begin, headers);
  }
}

/** Names are in lower case, by Fastify and by Node.js. */
function linesBeside(headers: unknown): string {
  if (Array.isArray(headers) || typeof headers !== 'object' || headers === null) return ALL_LINES;
  const own = headers as Readonly<Record<string, unknown>>;
  if (NAMES.every((name) => own[name] === undefined)) return ALL_LINES;
  return NAMES.map((name) => (own[name] === undefined ? LINES.get(name) : '')).join('');
}

/** Every answer starts with the headers for data; the browser app's files add more. */
export const headersOfData: ArrivalStep = (request, reply) => {
  if (writesLines && reply.raw instanceof DataAnswer) reply.raw.requestId = request.id;
  else reply.headers(OF_DATA).header('x-request-id', request.id);
};

type Documents = {
  /** Users reach the service by https, so browsers may insist on it. */
  readonly overHttps: boolean;
  readonly scripts?: readonly string[];
};

/**
 * helmet's headers for the browser app, computed once: doing so per request costs more than the rest of a small one.
 */
export async function headersOfDocuments({
  overHttps,
  scripts = SCRIPTS,
}: Documents): Promise<Readonly<Record<string, string>>> {
  const asked = Fastify();
  await asked.register(fastifyHelmet, optionsOf(scripts, overHttps));
  asked.get('/', (_request, reply) => {
    reply.hijack().raw.end();
  });
  const { headers } = await asked.inject('/');
  await asked.close();
  const decided = Object.entries(headers).filter(([name]) => !OF_THE_TRANSFER.has(name));
  return Object.fromEntries(decided.map(([name, value]) => [name, String(value)]));
}

const SCRIPTS: readonly string[] = ["'self'"];

/** The player of recordings runs WebAssembly. Only its page may compile it, and no page runs foreign scripts. */
export const headersOfPlayback = (overHttps: boolean): Promise<Readonly<Record<string, string>>> =>
  headersOfDocuments({ overHttps, scripts: [...SCRIPTS, "'wasm-unsafe-eval'"] });

const OF_THE_TRANSFER: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'date',
  'transfer-encoding',
]);

const optionsOf = (scripts: readonly string[], overHttps: boolean) => ({
  // Other services may be below the same name, without https.
  strictTransportSecurity: overHttps && { includeSubDomains: false },
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: [...scripts],
      styleSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      manifestSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  referrerPolicy: { policy: 'no-referrer' as const },
});
