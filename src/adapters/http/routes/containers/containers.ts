import { type Static, Type } from '@sinclair/typebox';
import type { Containers } from '../../../../app/containers/containers.ts';
import type { PresentLoads } from '../../../../app/containers/figures/present-loads.ts';
import type { Updated } from '../../../../app/containers/update-container.ts';
import type { Idempotency } from '../../../../app/idempotency.ts';
import type { LoadNow } from '../../../../domain/containers/capacity/capacity.ts';
import { CONTAINER_STATES, type Container } from '../../../../domain/containers/container.ts';
import { hasLabels } from '../../../../domain/containers/lifetime/labels.ts';
import type { Caller } from '../../../../domain/identity/caller.ts';
import { orThrow } from '../../errors.ts';
import { IdempotencyHeaders, onlyOnce } from '../../idempotency.ts';
import { pageOf } from '../../list-pages.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as refusals from '../../refusals.ts';
import { ContainerParams, Flag, Text } from '../../schema/common.ts';
import * as schema from '../../schema/containers/containers.ts';
import { labelQuery } from '../../schema/containers/lifetime.ts';
import { listQuery } from '../../schema/pagination.ts';
import type { Routes } from '../../server.ts';
import {
  toContainerBody,
  toCreateRequest,
  toDeletedBody,
  toRemovedBody,
  toUnderWayBody,
  toUpdatedBody,
  toUpdateRequest,
  toVisibleBody,
} from './container-body.ts';
import { recoveryRoutes, runRoutes } from './container-states.ts';
import { lifetimeRoutes } from './lifetime.ts';
import { toLabelFilters } from './lifetime-body.ts';

const LIVE_STATES = CONTAINER_STATES.filter((state) => state !== 'deleted');

/** The last three are what is in use now: the share of the processor's limit, memory, and the volume. */
const SORTS = ['created_at', 'name', 'last_used_at', 'status', 'cpu', 'memory', 'disk'] as const;

const ListQuery = Type.Composite(
  [
    listQuery(SORTS, ['name', 'image', 'role']),
    Type.Object({
      status: Type.Optional(Type.Union(LIVE_STATES.map((state) => Type.Literal(state)))),
      deleted: Flag({ description: '`true`: restorable deleted containers instead of live ones.' }),
      q: Type.Optional(Text({ maxLength: 200 })),
      shared: Flag({ description: '`true`: only those that others share with you. `false`: only your own.' }),
      label: labelQuery,
    }),
  ],
  { additionalProperties: false },
);

const toCreatedAnswer = (made: Container) => ({
  status: made.state === 'creating' ? 202 : 201,
  body: toContainerBody(made),
});

const toUpdatedAnswer = (
  updated: Updated,
): { status: 200 | 202; body: Static<typeof schema.UnderWayBody> | Static<typeof schema.UpdatedBody> } =>
  updated.underWay
    ? { status: 202, body: toUnderWayBody(updated.container) }
    : { status: 200, body: toUpdatedBody(updated) };

const hasText = ({ name, image, role }: schema.ContainerBody, text = ''): boolean =>
  `${name}\n${image}\n${role}`.toLowerCase().includes(text.toLowerCase());

const isShared = ({ collaboration }: schema.ContainerBody, shared?: 'true' | 'false'): boolean =>
  shared === undefined || (collaboration !== undefined) === (shared === 'true');

/** The live or the deleted containers that the caller may see. */
async function foundBy(containers: Containers, caller: Caller, deleted: boolean) {
  if (!deleted) return { found: (await containers.list(caller)).map(toVisibleBody) };
  const kept = await containers.listKept(caller);
  return { found: kept.containers.map(toDeletedBody), kept_days: kept.keptDays };
}

/** By what containers are sorted. Only running ones use a processor and memory. */
async function sortKeys(sort: string | undefined, loadsNow: PresentLoads) {
  const isOfLoad = ['cpu', 'memory'].includes(sort?.replace('-', '') ?? '');
  const loads = isOfLoad ? await loadsNow() : new Map<string, LoadNow>();
  return (one: schema.ContainerBody, field: string): unknown => {
    const load = loads.get(one.id ?? '');
    if (field === 'cpu') return load === undefined ? null : load.cpuMillicores / one.resources.cpu_shares;
    if (field === 'memory') return load?.memoryBytes ?? null;
    return field === 'disk' ? one.volume.used_mb : one[field as keyof schema.ContainerBody];
  };
}

export const containerRoutes =
  (containers: Containers, keys: Idempotency, loadsNow: PresentLoads): Routes =>
  (http, tokens) => {
    createRoute(containers, keys)(http, tokens);

    http.get(
      '/api/containers',
      operation('containers.list', 'List the containers that you may see', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to list containers' },
        querystring: ListQuery,
        response: { 200: schema.ContainerList },
      }),
      async (request) => {
        const { deleted, label, q, shared, ...query } = request.query;
        const filters = toLabelFilters(label);
        const { found, ...more } = await foundBy(containers, request.caller, deleted === 'true');
        const chosen = found.filter(
          (one) => hasLabels(one.labels, filters) && hasText(one, q) && isShared(one, shared),
        );
        const keyOf = await sortKeys(query.sort, loadsNow);
        const { items, total, next } = pageOf(chosen, query, 'db_id', keyOf);
        return { containers: items, total, ...next, ...more };
      },
    );

    http.get(
      '/api/containers/:id',
      operation('containers.get', 'Read a container', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to read container' },
        refusals: ['container_not_found'],
        params: ContainerParams,
        response: { 200: schema.ContainerBody },
      }),
      async (request) => toVisibleBody(orThrow(await containers.get(request.params.id, request.caller))),
    );

    lifetimeRoutes(containers)(http, tokens);
    runRoutes(containers)(http, tokens);
    recoveryRoutes(containers)(http, tokens);
    changeRoutes(containers, keys)(http, tokens);
  };

const createRoute =
  (containers: Containers, keys: Idempotency): Routes =>
  (http) => {
    http.post(
      '/api/containers',
      operation('containers.create', 'Create and start a container', {
        config: { scope: 'write', failure: 'failed to create container' },
        refusals: [
          ...refusals.ENGINE,
          'guest_session_expired',
          'host_disk_short',
          'container_limit_reached',
          'kept_limit_reached',
          'name_taken',
          ...refusals.CANNOT_START,
          'snapshot_not_found',
          'snapshot_not_ready',
        ],
        headers: IdempotencyHeaders,
        body: schema.CreateContainerRequest,
        response: { 201: schema.ContainerBody, 202: schema.ContainerBody },
      }),
      async (request, reply) => {
        const { caller, origin } = request;
        const wanted = toCreateRequest(request.body);
        const { status, body } = await onlyOnce(keys, request, reply, {
          first: async (note) =>
            toCreatedAnswer(orThrow(await containers.create(wanted, caller, origin, note))),
          replay: async (dbId) => {
            const made = await containers.get(dbId, caller);
            return made.ok ? toCreatedAnswer(made.value.container) : null;
          },
        });
        return reply.code(status as 201 | 202).send(body);
      },
    );
  };

const changeRoutes =
  (containers: Containers, keys: Idempotency): Routes =>
  (http) => {
    http.patch(
      '/api/containers/:id',
      operation('containers.update', "Change a container's name or limits", {
        config: { scope: 'write', forRestricted: true, failure: 'failed to update container' },
        refusals: [
          ...refusals.CHANGE,
          ...refusals.ENGINE,
          'guest_session_expired',
          'host_disk_short',
          'disk_quota_exceeded',
          ...refusals.CANNOT_START,
        ],
        params: ContainerParams,
        headers: IdempotencyHeaders,
        body: schema.UpdateContainerRequest,
        response: { 200: schema.UpdatedBody, 202: schema.UnderWayBody },
      }),
      async (request, reply) => {
        const { params, caller, origin } = request;
        const wanted = toUpdateRequest(request.body);
        const { status, body } = await onlyOnce(keys, request, reply, {
          first: async () =>
            toUpdatedAnswer(orThrow(await containers.update(params.id, wanted, caller, origin))),
        });
        return reply.code(status as 200 | 202).send(body);
      },
    );

    http.delete(
      '/api/containers/:id',
      operation('containers.delete', 'Delete a container, which can be restored for some days', {
        config: { scope: 'write', forRestricted: true, failure: 'failed to delete container' },
        refusals: [...refusals.CHANGE, ...refusals.ENGINE, 'new_password_required'],
        params: ContainerParams,
        response: { 200: schema.DeletedBody, 202: schema.UnderWayBody },
      }),
      async ({ params, caller, origin }, reply) => {
        const { container: gone, underWay } = orThrow(await containers.remove(params.id, caller, origin));
        if (underWay) return reply.code(202).send(toUnderWayBody(gone));
        return toRemovedBody(gone);
      },
    );
  };
