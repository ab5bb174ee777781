import type { Collaborations } from '../../../../app/collaboration/collaborations.ts';
import type { Collaboration } from '../../../../domain/terminals/collaboration.ts';
import { orThrow } from '../../errors.ts';
import * as schema from '../../schema/collaborations.ts';
import { IdParams } from '../../schema/common.ts';
import type { Routes } from '../../server.ts';

export const collaborationRoutes =
  (collaborations: Collaborations): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/collaborations',
      {
        config: { scope: 'write', failure: 'failed to share terminal' },
        schema: { params: IdParams, body: schema.ShareRequest, response: { 201: schema.SharedBody } },
      },
      async ({ params, body, caller, origin }, reply) => {
        const { mode, expires_in_minutes: minutes } = body;
        const made = orThrow(await collaborations.create(params.id, { mode, minutes }, caller, origin));
        const { collaboration, code, url } = made;
        reply.header('cache-control', 'no-store');
        return reply.code(201).send({ ...toBody(collaboration), code, url });
      },
    );

    http.get(
      '/api/containers/:id/collaborations',
      {
        config: { scope: 'read', failure: 'failed to list collaborations' },
        schema: { params: IdParams, response: { 200: schema.CollaborationList } },
      },
      async ({ params, caller }) => ({
        collaborations: orThrow(await collaborations.list(params.id, caller)).map(toBody),
      }),
    );

    http.post(
      '/api/collaborations/join',
      {
        config: { scope: 'write', failure: 'failed to join collaboration' },
        schema: { body: schema.JoinRequest, response: { 200: schema.JoinedBody } },
      },
      async ({ body, caller, origin }) => {
        const { collaboration, container } = orThrow(await collaborations.join(body.code, caller, origin));
        return { ...toBody(collaboration), container: { db_id: container.dbId, name: container.name } };
      },
    );

    http.get(
      '/api/collaborations/:id',
      {
        config: { scope: 'read', failure: 'failed to read collaboration' },
        schema: { params: IdParams, response: { 200: schema.CollaborationBody } },
      },
      async ({ params, caller }) => toBody(orThrow(await collaborations.get(params.id, caller))),
    );

    http.delete(
      '/api/collaborations/:id',
      {
        config: { scope: 'write', failure: 'failed to end collaboration' },
        schema: { params: IdParams, response: { 200: schema.CollaborationBody } },
      },
      async ({ params, caller, origin }) =>
        toBody(orThrow(await collaborations.remove(params.id, caller, origin))),
    );

    http.delete(
      '/api/collaborations/:id/participants/:user_id',
      {
        config: { scope: 'write', failure: 'failed to remove participant' },
        schema: { params: schema.ParticipantParams, response: { 200: schema.CollaborationBody } },
      },
      async ({ params, caller, origin }) =>
        toBody(orThrow(await collaborations.putOut(params.id, params.user_id, caller, origin))),
    );
  };

const toBody = (collaboration: Collaboration): schema.CollaborationBody => ({
  id: collaboration.id,
  container_id: collaboration.dbId,
  owner_id: collaboration.ownerId,
  mode: collaboration.mode,
  created_at: collaboration.createdAt.toISOString(),
  expires_at: collaboration.expiresAt.toISOString(),
  ended_at: collaboration.endedAt?.toISOString() ?? null,
  participants: collaboration.participants.map(({ userId, username, joinedAt }) => ({
    user_id: userId,
    username,
    joined_at: joinedAt.toISOString(),
  })),
});
