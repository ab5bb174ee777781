/** What each rung of a ladder adds to the one below. */

/** Of a request with an API token, above bare Fastify and below the service. */
export const TOKEN_RUNGS = [
  'id and logger',
  'headers',
  'serializer',
  'token',
  'metrics',
  'connections',
] as const;
export type TokenRung = (typeof TOKEN_RUNGS)[number];

/** How an event is written to each subscriber, below the service. */
export const EVENT_RUNGS = ['write(2)', 'socket.write', 'ws.send'] as const;
export type EventRung = (typeof EVENT_RUNGS)[number];
