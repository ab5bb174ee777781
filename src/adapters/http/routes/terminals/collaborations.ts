import type { Collaborations } from '../../../../app/collaboration/collaborations.ts';
import type { Collaboration } from '../../../../domain/terminals/collaboration.ts';
import { orThrow } from '../../errors.ts';
import { listBody } from '../../list-pages.ts';
import { operation } from '../../open-api/route-schema.ts';
import { bodyOf } from '../../replies/bodies.ts';
import { ContainerParams, IdParams } from '../../schema/common.ts';
import * as schema from '../../schema/terminals/collaborations.ts';
import { joinRoutes, type Routes } from '../../server.ts';

export const collaborationRoutes = (collaborations: Collaborations): Routes =>
  joinRoutes(ownerRoutes(collaborations), participantRoutes(collaborations), endRoutes(collaborations));

const ownerRoutes =
  (collaborations: Collaborations): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/collaborations',
      operation('collaborations.create', 'Share the terminal of a container', {
        config: {
          scope: 'write',
          forRestricted: true,
          shutAfterReset: true,
          makesRecord: true,
          failure: 'failed to share terminal',
        },
        refusals: [
          'container_not_found',
          'not_authorized',
          'token_dependent',
          'container_not_running',
          'guest_session_expired',
          'collaboration_limit_reached',
          'sharing_needs_tmux',
        ],
        params: ContainerParams,
        body: schema.ShareRequest,
        response: { 201: schema.SharedBody },
      }),
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
      operation('collaborations.list', 'List the shares of a container', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to list collaborations' },
        refusals: ['container_not_found', 'not_authorized'],
        params: ContainerParams,
        querystring: schema.CollaborationListQuery,
        response: { 200: schema.CollaborationList },
      }),
      async ({ params, caller, query }) => {
        const all = orThrow(await collaborations.list(params.id, caller)).map(toBody);
        return listBody('collaborations', all, query, 'id');
      },
    );
  };

const participantRoutes =
  (collaborations: Collaborations): Routes =>
  (http) => {
    http.post(
      '/api/collaborations/join',
      operation('collaborations.join', 'Join by a code', {
        config: { scope: 'write', makesRecord: true, failure: 'failed to join collaboration' },
        refusals: ['collaboration_not_found', 'guest_session_expired'],
        body: schema.JoinRequest,
        response: { 200: schema.JoinedBody },
      }),
      async ({ body, caller, origin }) => {
        const { collaboration, container } = orThrow(await collaborations.join(body.code, caller, origin));
        return { ...toBody(collaboration), container: { db_id: container.dbId, name: container.name } };
      },
    );

    http.get(
      '/api/collaborations/:id',
      operation('collaborations.get', 'Read a share', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to read collaboration' },
        refusals: ['collaboration_not_found', 'not_authorized'],
        params: IdParams,
        response: { 200: schema.CollaborationBody },
      }),
      async ({ params, caller }) => toBody(orThrow(await collaborations.get(params.id, caller))),
    );
  };

const endRoutes =
  (collaborations: Collaborations): Routes =>
  (http) => {
    http.delete(
      '/api/collaborations/:id',
      operation('collaborations.end', 'End a share, or leave it', {
        config: {
          scope: 'write',
          forRestricted: true,
          shutAfterReset: true,
          failure: 'failed to end collaboration',
        },
        refusals: ['collaboration_not_found', 'not_authorized'],
        params: IdParams,
        response: { 200: schema.CollaborationBody },
      }),
      async ({ params, caller, origin }) =>
        toBody(orThrow(await collaborations.remove(params.id, caller, origin))),
    );

    http.delete(
      '/api/collaborations/:id/participants/:user_id',
      operation('collaborations.removeParticipant', 'Remove a participant', {
        config: {
          scope: 'write',
          forRestricted: true,
          shutAfterReset: true,
          failure: 'failed to remove participant',
        },
        refusals: ['collaboration_not_found', 'not_authorized'],
        params: schema.ParticipantParams,
        response: { 200: schema.CollaborationBody },
      }),
      async ({ params, caller, origin }) =>
        toBody(orThrow(await collaborations.putOut(params.id, params.user_id, caller, origin))),
    );
  };

const serializeCollaboration = bodyOf(schema.CollaborationBody);

const toBody = (share: Collaboration) => serializeCollaboration({ ...share, containerId: share.dbId });
