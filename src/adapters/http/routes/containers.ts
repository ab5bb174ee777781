import { Type } from '@sinclair/typebox';
import type { Containers } from '../../../app/containers/index.ts';
import { CONTAINER_STATES } from '../../../domain/container.ts';
import { orThrow } from '../errors.ts';
import { Closed, IdParams } from '../schema/common.ts';
import * as schema from '../schema/containers.ts';
import type { Routes } from '../server.ts';
import { toContainerBody, toCreateRequest, toStartedBody, toUpdateRequest } from './container-body.ts';

const LIVE_STATES = CONTAINER_STATES.filter((state) => state !== 'deleted');

const ListQuery = Closed({
  status: Type.Optional(Type.Union(LIVE_STATES.map((state) => Type.Literal(state)))),
});

/** `quota` tells whether the engine enforces `disk_mb` now. */
export const containerRoutes =
  (containers: Containers, quota: () => 'hard' | 'soft'): Routes =>
  (http, tokens) => {
    http.post(
      '/api/containers',
      {
        config: { scope: 'write', failure: 'failed to create container' },
        schema: {
          body: schema.CreateContainerRequest,
          response: { 201: schema.ContainerBody, 202: schema.ContainerBody },
        },
      },
      async (request, reply) => {
        const made = orThrow(
          await containers.create(toCreateRequest(request.body), request.caller, request.origin),
        );
        return reply.code(made.state === 'creating' ? 202 : 201).send(toContainerBody(made, quota()));
      },
    );

    http.get(
      '/api/containers',
      {
        config: { scope: 'read', failure: 'failed to list containers' },
        schema: { querystring: ListQuery, response: { 200: schema.ContainerList } },
      },
      async (request) => {
        const { status } = request.query;
        const own = await containers.list(request.caller);
        const shown = own.filter(({ state }) => status === undefined || state === status);
        return { containers: shown.map((one) => toContainerBody(one, quota())) };
      },
    );

    http.get(
      '/api/containers/:id',
      {
        config: { scope: 'read', failure: 'failed to read container' },
        schema: { params: IdParams, response: { 200: schema.ContainerBody } },
      },
      async (request) =>
        toContainerBody(orThrow(await containers.get(request.params.id, request.caller)), quota()),
    );

    lifecycleRoutes(containers, quota)(http, tokens);
  };

const lifecycleRoutes =
  (containers: Containers, quota: () => 'hard' | 'soft'): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/start',
      {
        config: { scope: 'write', failure: 'failed to start container' },
        schema: { params: IdParams, response: { 200: schema.StartedBody } },
      },
      async (request) =>
        toStartedBody(orThrow(await containers.start(request.params.id, request.caller, request.origin))),
    );

    http.post(
      '/api/containers/:id/stop',
      {
        config: { scope: 'write', failure: 'failed to stop container' },
        schema: { params: IdParams, response: { 200: schema.StoppedBody } },
      },
      async (request) => {
        const stopped = orThrow(await containers.stop(request.params.id, request.caller, request.origin));
        return { message: 'container stopped', id: stopped.runtimeId, name: stopped.name, status: 'stopped' };
      },
    );

    http.post(
      '/api/containers/:id/restore',
      {
        config: { scope: 'write', failure: 'failed to restore container' },
        schema: { params: IdParams, response: { 200: schema.ContainerBody } },
      },
      async (request) =>
        toContainerBody(
          orThrow(await containers.restore(request.params.id, request.caller, request.origin)),
          quota(),
        ),
    );

    http.patch(
      '/api/containers/:id',
      {
        config: { scope: 'write', failure: 'failed to update container' },
        schema: {
          params: IdParams,
          body: schema.UpdateContainerRequest,
          response: { 200: schema.UpdatedBody },
        },
      },
      async (request) => {
        const { container, restarted } = orThrow(
          await containers.update(
            request.params.id,
            toUpdateRequest(request.body),
            request.caller,
            request.origin,
          ),
        );
        return { message: 'settings updated', restarted, container: toContainerBody(container, quota()) };
      },
    );

    http.delete(
      '/api/containers/:id',
      {
        config: { scope: 'write', failure: 'failed to delete container' },
        schema: { params: IdParams, response: { 200: schema.DeletedBody } },
      },
      async (request) => {
        const gone = orThrow(await containers.remove(request.params.id, request.caller, request.origin));
        return { message: 'container deleted', id: gone.runtimeId, db_id: gone.dbId, name: gone.name };
      },
    );
  };
