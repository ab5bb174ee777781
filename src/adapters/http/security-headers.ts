import fastifyHelmet from '@fastify/helmet';
import Fastify from 'fastify';
import type { ArrivalStep } from './arrival.ts';

/** For data: browsers must not run, frame or store it. */
const OF_DATA = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
} as const;

/** Every answer starts with the headers for data; the browser app's files add more. */
export const headersOfData: ArrivalStep = (request, reply) => {
  reply.headers(OF_DATA).header('x-request-id', request.id);
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
