import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Http } from '../fastify-types.ts';

type OnConnection = (socket: Socket) => void;
/** At the arrival of each request, and at the end of each answer, complete or not. */
export type ExchangeWork = { readonly begin?: OnConnection; readonly end: OnConnection };
export type HandleExchange = (request: IncomingMessage, response: ServerResponse) => void;

type Exchanges = { readonly begins: OnConnection[]; readonly ends: OnConnection[]; handle: HandleExchange };

const known = new WeakMap<Server, Exchanges>();

/** Does this with each request. All works share two listeners: a listener costs a small request more than most works. */
export function withExchanges({ server }: Pick<Http, 'server'>, { begin, end }: ExchangeWork): void {
  const { begins, ends } = exchangesOf(server);
  if (begin !== undefined) begins.push(begin);
  ends.push(end);
}

/** Puts something before the server's own handling of requests. */
export function handleBy(
  { server }: Pick<Http, 'server'>,
  before: (handle: HandleExchange) => HandleExchange,
): void {
  const all = exchangesOf(server);
  all.handle = before(all.handle);
}

function exchangesOf(server: Server): Exchanges {
  const present = known.get(server);
  if (present !== undefined) return present;
  const own = server.listeners('request') as RequestListener[];
  server.removeAllListeners('request');
  const made: Exchanges = {
    begins: [],
    ends: [],
    handle: (request, response) => {
      for (const each of own) each(request, response);
    },
  };
  known.set(server, made);
  function ended(this: ServerResponse): void {
    const { socket } = this.req;
    for (const end of made.ends) end(socket);
  }
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    for (const begin of made.begins) begin(socket);
    response.on('close', ended);
    made.handle(request, response);
  });
  return made;
}
