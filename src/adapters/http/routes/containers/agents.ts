import type { Enrolments } from '../../../../app/containers/agents/enrolments.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as schema from '../../schema/containers/agents.ts';
import type { Routes } from '../../server.ts';

/** Codes for new agents, and their exchange. The connection itself is a WebSocket. */
export const agentRoutes =
  (enrolments: Enrolments): Routes =>
  (http) => {
    http.post(
      '/api/agents/enrolments',
      operation('agents.createEnrolment', 'Create a one-time code to install an agent with', {
        config: { scope: 'write', shutAfterReset: true, failure: 'failed to create an enrolment code' },
        refusals: [
          'token_dependent',
          'guest_session_expired',
          'agent_limit_reached',
          'enrolment_limit_reached',
        ],
        response: { 201: schema.EnrolmentBody },
      }),
      async ({ caller, origin }, reply) => {
        const { code, expiresAt } = orThrow(await enrolments.create(caller, origin));
        const body = { code, expires_at: expiresAt.toISOString() };
        return reply.code(201).header('cache-control', 'no-store').send(body);
      },
    );

    http.post(
      '/api/agents/enrol',
      operation('agents.enrol', 'Exchange a code for the token of a machine', {
        config: { scope: 'public', failure: 'failed to enrol the agent' },
        refusals: ['enrolment_not_found', 'token_limit_reached'],
        body: schema.EnrolRequest,
        response: { 201: schema.EnrolledBody },
      }),
      async ({ body, origin }, reply) => {
        const { code, agent: machineId, name } = body;
        const made = orThrow(await enrolments.exchange({ code, machineId, name }, origin));
        return reply
          .code(201)
          .header('cache-control', 'no-store')
          .send({
            token: made.secret,
            token_prefix: made.token.prefix,
            id: made.token.id,
            expires_at: made.token.expiresAt?.toISOString() ?? null,
          });
      },
    );
  };
