import type { Containers } from '../../../../app/containers/containers.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as refusals from '../../refusals.ts';
import { ContainerParams } from '../../schema/common.ts';
import * as schema from '../../schema/containers/containers.ts';
import { joinRoutes, type Routes } from '../../server.ts';
import { toContainerBody, toStartedBody, toStoppedBody, toUnderWayBody } from './container-body.ts';

/** Starts and stops. */
export const runRoutes =
  (containers: Containers): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/start',
      operation('containers.start', 'Start a container', {
        config: { scope: 'write', forRestricted: true, failure: 'failed to start container' },
        refusals: [
          ...refusals.CHANGE,
          ...refusals.ENGINE,
          'guest_session_expired',
          'agent_not_connected',
          'host_disk_short',
          'disk_quota_exceeded',
          ...refusals.CANNOT_START,
        ],
        params: ContainerParams,
        response: { 200: schema.StartedBody, 202: schema.UnderWayBody },
      }),
      async ({ params, caller, origin }, reply) => {
        const started = orThrow(await containers.start(params.id, caller, origin));
        if (started.underWay) return reply.code(202).send(toUnderWayBody(started.container));
        return toStartedBody(started);
      },
    );

    http.post(
      '/api/containers/:id/stop',
      operation('containers.stop', 'Stop a container', {
        config: { scope: 'write', forRestricted: true, failure: 'failed to stop container' },
        refusals: [...refusals.CHANGE, ...refusals.ENGINE],
        params: ContainerParams,
        response: { 200: schema.StoppedBody, 202: schema.UnderWayBody },
      }),
      async ({ params, caller, origin }, reply) => {
        const { container, underWay } = orThrow(await containers.stop(params.id, caller, origin));
        if (underWay) return reply.code(202).send(toUnderWayBody(container));
        return toStoppedBody(container);
      },
    );
  };

/** What follows a delete. */
export const recoveryRoutes = (containers: Containers): Routes =>
  joinRoutes(restoreRoute(containers), purgeRoutes(containers));

const restoreRoute =
  (containers: Containers): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/restore',
      operation('containers.restore', 'Restore a deleted container', {
        config: { scope: 'write', forRestricted: true, failure: 'failed to restore container' },
        refusals: [
          ...refusals.CHANGE,
          ...refusals.ENGINE,
          'guest_session_expired',
          'host_disk_short',
          'container_limit_reached',
          'name_taken',
          ...refusals.CANNOT_START,
        ],
        params: ContainerParams,
        response: { 200: schema.ContainerBody, 202: schema.UnderWayBody },
      }),
      async ({ params, caller, origin }, reply) => {
        const { container, underWay } = orThrow(await containers.restore(params.id, caller, origin));
        if (underWay) return reply.code(202).send(toUnderWayBody(container));
        return toContainerBody(container);
      },
    );
  };

const purgeRoutes =
  (containers: Containers): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/purge',
      operation('containers.purge', 'Delete a deleted container permanently', {
        config: {
          scope: 'write',
          forRestricted: true,
          shutAfterReset: true,
          failure: 'failed to purge container',
        },
        refusals: ['container_not_found', 'not_authorized'],
        params: ContainerParams,
        body: schema.PurgeRequest,
        response: { 200: schema.PurgedBody },
      }),
      async ({ params, body, caller, origin }) => {
        const { dbId, name } = orThrow(await containers.purge(params.id, body.name, caller, origin));
        return { message: 'container purged', db_id: dbId, name };
      },
    );

    http.get(
      '/api/admin/deleted-containers',
      operation('adminDeletedContainers.read', 'Sum up the deleted containers of all users', {
        config: { scope: 'admin', failure: 'failed to read deleted containers' },
        response: { 200: schema.KeptSumBody },
      }),
      async () => {
        const { count, usedMb, retentionDays } = await containers.sumKept();
        return { count, used_mb: usedMb, retention_days: retentionDays };
      },
    );
  };
