import type { Snapshots } from '../../../../app/containers/snapshots/snapshots.ts';
import type { Idempotency } from '../../../../app/idempotency.ts';
import type { Container } from '../../../../domain/containers/container.ts';
import { hasLabels } from '../../../../domain/containers/lifetime/labels.ts';
import type { Snapshot } from '../../../../domain/containers/snapshots/snapshot.ts';
import { orThrow } from '../../errors.ts';
import { IdempotencyHeaders, onlyOnce } from '../../idempotency.ts';
import { listBody } from '../../list-pages.ts';
import { operation } from '../../open-api/route-schema.ts';
import * as refusals from '../../refusals.ts';
import { ContainerParams, IdParams } from '../../schema/common.ts';
import * as schema from '../../schema/containers/snapshots.ts';
import { joinRoutes, type Routes } from '../../server.ts';
import { toContainerBody } from './container-body.ts';
import { toLabelFilters } from './lifetime-body.ts';
import { toForkRequest, toSnapshotBody, toSnapshotRequest } from './snapshot-body.ts';

export const snapshotRoutes = (snapshots: Snapshots, keys: Idempotency): Routes =>
  joinRoutes(
    takeRoute(snapshots, keys),
    forkRoute(snapshots, keys),
    listRoutes(snapshots),
    deletionRoutes(snapshots),
  );

const REFUSALS = [
  ...refusals.CHANGE,
  'guest_session_expired',
  'host_disk_short',
  'snapshot_needs_start',
  'not_offered_by_engine',
  'snapshot_space_reached',
] as const;

const toTakenAnswer = (taken: Snapshot) => ({
  status: taken.state === 'creating' ? 202 : 201,
  body: toSnapshotBody(taken),
});

const toForkedAnswer = (made: readonly Container[]) => ({
  status: made.some(({ state }) => state === 'creating') ? 202 : 201,
  body: { containers: made.map(toContainerBody) },
});

const takeRoute =
  (snapshots: Snapshots, keys: Idempotency): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/snapshots',
      operation('snapshots.take', 'Copy a container with its volume; a running one is paused meanwhile', {
        config: { scope: 'write', forRestricted: true, failure: 'failed to take snapshot' },
        refusals: [...REFUSALS, 'snapshot_limit_reached', 'snapshot_name_taken'],
        params: ContainerParams,
        headers: IdempotencyHeaders,
        body: schema.SnapshotRequestBody,
        response: { 201: schema.SnapshotBody, 202: schema.SnapshotBody },
      }),
      async (request, reply) => {
        const { params, caller, origin } = request;
        const wanted = toSnapshotRequest(request.body);
        const { status, body } = await onlyOnce(keys, request, reply, {
          first: async (note) =>
            toTakenAnswer(orThrow(await snapshots.take(params.id, wanted, caller, origin, note))),
          replay: async (id) => {
            const taken = await snapshots.find(id, caller);
            return taken.ok ? toTakenAnswer(taken.value) : null;
          },
        });
        return reply.code(status as 201 | 202).send(body);
      },
    );
  };

const forkRoute =
  (snapshots: Snapshots, keys: Idempotency): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/forks',
      operation('snapshots.fork', 'Make containers with the current files of another', {
        config: { scope: 'write', failure: 'failed to fork container' },
        refusals: [...REFUSALS, 'container_limit_reached', 'kept_limit_reached', 'name_taken'],
        params: ContainerParams,
        headers: IdempotencyHeaders,
        body: schema.ForkRequestBody,
        response: { 201: schema.ForksBody, 202: schema.ForksBody },
      }),
      async (request, reply) => {
        const { params, caller, origin } = request;
        const wanted = toForkRequest(request.body);
        const { status, body } = await onlyOnce(keys, request, reply, {
          first: async (note) =>
            toForkedAnswer(orThrow(await snapshots.fork(params.id, wanted, caller, origin, note))),
          replay: async (snapshotId) => {
            const made = await snapshots.forksOf(snapshotId, caller);
            return made.ok ? toForkedAnswer(made.value) : null;
          },
        });
        return reply.code(status as 201 | 202).send(body);
      },
    );
  };

const listRoutes =
  (snapshots: Snapshots): Routes =>
  (http) => {
    http.get(
      '/api/snapshots',
      operation('snapshots.list', 'List your snapshots', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to list snapshots' },
        querystring: schema.SnapshotListQuery,
        response: { 200: schema.SnapshotList },
      }),
      async ({ query: { container, label, deleted, ...query }, caller }) => {
        const filters = toLabelFilters(label);
        const found = (await (deleted === 'true' ? snapshots.listDeleted(caller) : snapshots.list(caller)))
          .map(toSnapshotBody)
          .filter(({ labels }) => hasLabels(labels, filters))
          .filter(({ container_id: of }) => container === undefined || of === container.toLowerCase());
        return listBody('snapshots', found, query, 'id');
      },
    );

    http.get(
      '/api/snapshots/:id',
      operation('snapshots.get', 'Read a snapshot', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to read snapshot' },
        refusals: ['snapshot_not_found'],
        params: IdParams,
        response: { 200: schema.SnapshotBody },
      }),
      async ({ params, caller }) => toSnapshotBody(orThrow(await snapshots.find(params.id, caller))),
    );
  };

const deletionRoutes =
  (snapshots: Snapshots): Routes =>
  (http) => {
    http.delete(
      '/api/snapshots/:id',
      operation('snapshots.delete', 'Delete a snapshot; containers made from it stay', {
        config: { scope: 'write', failure: 'failed to delete snapshot' },
        refusals: ['snapshot_not_found', 'snapshot_not_ready'],
        params: IdParams,
        response: { 200: schema.DeletedSnapshotBody },
      }),
      async ({ params, caller, origin }) => {
        const { id, name } = orThrow(await snapshots.remove(params.id, caller, origin));
        return { id, name, deleted: true as const };
      },
    );

    http.post(
      '/api/snapshots/:id/restore',
      operation('snapshots.restore', 'Undo the deletion of a snapshot', {
        config: { scope: 'write', failure: 'failed to restore snapshot' },
        refusals: [
          'snapshot_not_found',
          'snapshot_name_taken',
          'snapshot_limit_reached',
          'snapshot_space_reached',
          'guest_session_expired',
        ],
        params: IdParams,
        body: schema.SnapshotRestoreBody,
        response: { 200: schema.SnapshotBody },
      }),
      async ({ params, body, caller, origin }) =>
        toSnapshotBody(orThrow(await snapshots.restore(params.id, body.name, caller, origin))),
    );
  };
