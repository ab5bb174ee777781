import type { FastifyReply, FastifyRequest } from 'fastify';
import { type DomainError, Refusal } from '../../domain/errors.ts';
import type { Result } from '../../domain/result.ts';

/** Refusals before the upgrade of a socket to programs in a container. */
export const IN_CONTAINER = [
  'container_not_found',
  'not_authorized',
  'container_not_running',
  'guest_session_expired',
  'address_full',
] as const;

/** Returns the value, or throws the refusal, which plain HTTP answers before the upgrade. */
export function orRefuse<T>(result: Result<T, DomainError>): T {
  if (!result.ok) throw new Refusal(result.error);
  return result.value;
}

/** Answers a plain request to a socket's address. */
export const plainRequest = async (_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
  reply.code(426).header('upgrade', 'websocket').send({
    error: 'this address is a WebSocket: connect with one',
    code: 'upgrade_required',
  });
