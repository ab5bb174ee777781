import type { FastifyReply, FastifyRequest } from 'fastify';

/** Answers a plain request to a socket's address. */
export const plainRequest = async (_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> =>
  reply.code(426).header('upgrade', 'websocket').send({
    error: 'this address is a WebSocket: connect with one',
    code: 'upgrade_required',
  });
