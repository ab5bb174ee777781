import type { Sessions } from '../../../../app/identity/account/sessions.ts';
import { orThrow } from '../../errors.ts';
import { listBody } from '../../list-pages.ts';
import { operation } from '../../open-api/route-schema.ts';
import { bodyOf } from '../../replies/bodies.ts';
import { IdParams } from '../../schema/common.ts';
import * as schema from '../../schema/identity/sessions.ts';
import type { Routes } from '../../server.ts';

export const sessionRoutes =
  (sessions: Sessions): Routes =>
  (http) => {
    http.get(
      '/api/sessions',
      operation('sessions.list', 'List your sign-ins of the last 30 days', {
        config: { scope: 'login', failure: 'failed to list sessions', failureOfDatabase: true },
        querystring: schema.SessionListQuery,
        response: { 200: schema.SessionList },
      }),
      async ({ caller, query }) =>
        listBody('sessions', (await sessions.list(caller)).map(serializeSession), query, 'id'),
    );

    http.delete(
      '/api/sessions/:id',
      operation('sessions.revoke', 'Revoke one of your sessions', {
        config: { scope: 'login', failure: 'failed to revoke session' },
        refusals: ['new_password_required', 'session_not_found'],
        params: IdParams,
        body: schema.RevokeRequest,
        response: { 200: schema.RevokedBody },
      }),
      async ({ params, body, caller, origin }) => {
        orThrow(await sessions.revoke(params.id, body.reason, caller, origin));
        return { revoked: true as const };
      },
    );

    http.post(
      '/api/sessions/revoke-others',
      operation('sessions.revokeOthers', 'Revoke all your other sessions', {
        config: { scope: 'login', shutAfterReset: true, failure: 'failed to revoke sessions' },
        body: schema.RevokeRequest,
        response: { 200: schema.RevokedOthersBody },
      }),
      async ({ body, caller, origin }) => {
        const count = orThrow(await sessions.revokeOthers(body.reason, caller, origin));
        return { revoked: true as const, count };
      },
    );
  };

const serializeSession = bodyOf(schema.SessionBody);
