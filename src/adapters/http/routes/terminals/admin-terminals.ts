import type { AdminTerminals, WatchedTerminal } from '../../../../app/terminals/admin-terminals.ts';
import { orThrow } from '../../errors.ts';
import { pageOf } from '../../list-pages.ts';
import { operation } from '../../open-api/route-schema.ts';
import { IdParams } from '../../schema/common.ts';
import {
  ClosedTerminalBody,
  type TerminalBody,
  TerminalList,
  TerminalListQuery,
} from '../../schema/terminals/terminals.ts';
import type { Routes } from '../../server.ts';

export const adminTerminalRoutes =
  (terminals: AdminTerminals): Routes =>
  (http) => {
    http.get(
      '/api/admin/terminals',
      operation('adminTerminals.list', 'List all open terminals', {
        config: { scope: 'admin', failure: 'failed to list terminals' },
        querystring: TerminalListQuery,
        response: { 200: TerminalList },
      }),
      async ({ caller, origin, query }) => {
        const all = await terminals.list(caller, origin);
        const { items, next } = pageOf(all.map(toBody), query, 'id');
        return { terminals: items, ...next };
      },
    );

    http.delete(
      '/api/admin/terminals/:id',
      operation('adminTerminals.close', 'Close a terminal', {
        config: { scope: 'admin', failure: 'failed to close terminal' },
        refusals: ['terminal_not_found'],
        params: IdParams,
        response: { 200: ClosedTerminalBody },
      }),
      async ({ params: { id }, caller, origin }) => {
        orThrow(await terminals.close(id, caller, origin));
        return { id, closed: true as const };
      },
    );
  };

const toBody = (terminal: WatchedTerminal): TerminalBody => ({
  id: terminal.id,
  user_id: terminal.userId,
  username: terminal.username,
  container_id: terminal.dbId,
  container_name: terminal.containerName,
  connection_id: terminal.connectionId,
  mux_session: terminal.muxSession,
  owner: terminal.owner,
  cols: terminal.cols,
  rows: terminal.rows,
  created_at: terminal.createdAt.toISOString(),
  last_ping_at: terminal.lastPingAt.toISOString(),
  client: terminal.client,
  ip_address: terminal.ipAddress,
  viewers: terminal.viewers,
  replica: terminal.replica,
});
