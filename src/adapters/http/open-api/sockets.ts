import type { RouteOptions } from 'fastify';
import type { PathItem } from './document.ts';
import { errorsOf } from './route-errors.ts';

/**
 * The address of a socket. OpenAPI knows only requests with an answer: as an operation it would have no success. Its
 * query, credential and refusals before the upgrade are described with the path, its messages in docs/websockets.md.
 */
export function socketItem(item: PathItem, routes: ReadonlyMap<string, RouteOptions>): PathItem {
  const { get, ...others } = item;
  const route = get === undefined ? undefined : routes.get(get.operationId);
  const { subprotocol, scope } = route?.config ?? {};
  if (get === undefined || route === undefined || subprotocol === undefined) return item;
  const { operationId, summary, description, parameters, tags } = get;
  return {
    ...others,
    summary,
    description: `A WebSocket. ${description}`,
    parameters,
    'x-websocket': {
      operationId,
      tags,
      scope,
      subprotocols: [subprotocol, 'bearer.<token>'],
      refusals: errorsOf(route).map(({ status, code }) => ({ status, code })),
    },
  } as never;
}
