import type { AdminTerminals, WatchedTerminal } from '../../../../app/terminals/admin-terminals.ts';
import { orThrow } from '../../errors.ts';
import { listBody } from '../../list-pages.ts';
import { operation } from '../../open-api/route-schema.ts';
import { bodyOf } from '../../replies/bodies.ts';
import { IdParams } from '../../schema/common.ts';
import {
  ClosedTerminalBody,
  TerminalBody,
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
      async ({ caller, origin, query }) =>
        listBody('terminals', (await terminals.list(caller, origin)).map(toBody), query, 'id'),
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

const serializeTerminal = bodyOf(TerminalBody);

const toBody = (terminal: WatchedTerminal) => serializeTerminal({ ...terminal, containerId: terminal.dbId });
