import type { FastifyRequest } from 'fastify';
import { type PresentedToken, presentedToken } from '../../../app/identity/auth/presented-token.ts';

type Sent = { readonly bearer: string; readonly token: PresentedToken };

const LAST_SENT = Symbol('lastSent');
/** What it sent last. */
type Connection = FastifyRequest['raw']['socket'] & { [LAST_SENT]?: Sent };

/**
 * The API token of a request, digested once for all requests of a connection that send the same one: the digest costs
 * more than the rest of the check. It decides nothing: whether the token is good is asked for each request.
 */
export function tokenOf({ raw }: FastifyRequest, bearer: string): PresentedToken {
  const socket: Connection = raw.socket;
  const known = socket[LAST_SENT];
  if (known?.bearer === bearer) return known.token;
  const token = presentedToken(bearer);
  socket[LAST_SENT] = { bearer, token };
  return token;
}
