import type { FastifyRequest } from 'fastify';
import { type PresentedToken, presentedToken } from '../../../app/identity/auth/presented-token.ts';

type Sent = { readonly bearer: string; readonly token: PresentedToken };

/** What each connection sent last. */
const lastSent = new WeakMap<FastifyRequest['raw']['socket'], Sent>();

/**
 * The API token of a request, digested once for all requests of a connection that send the same one: the digest costs
 * more than the rest of the check. It decides nothing: whether the token is good is asked for each request.
 */
export function tokenOf({ raw: { socket } }: FastifyRequest, bearer: string): PresentedToken {
  const known = lastSent.get(socket);
  if (known?.bearer === bearer) return known.token;
  const token = presentedToken(bearer);
  lastSent.set(socket, { bearer, token });
  return token;
}
