import type { Routes } from '../../../adapters/http/server.ts';
import { abortWhenUnauthorized } from '../../../adapters/http/streamed-replies.ts';
import { mcpRoute } from '../../../adapters/mcp/mcp-route.ts';
import { authorize } from '../../../domain/identity/caller.ts';
import type { AuthorizedConnections } from '../../identity/auth/authorized-connections.ts';

/** Tools for assistants. An answer in progress ends with the caller's credential. */
export const mcpRoutes =
  (live: AuthorizedConnections, version: string): Routes =>
  (http) =>
    mcpRoute(http, { version, cutOff: abortWhenUnauthorized(live, (now) => authorize(now, 'read').ok) });
