import type { FastifyReply } from 'fastify';
import type { ContainerAccess } from '../../../../../app/containers/inside/container-access.ts';
import type { UsageBesideLimits } from '../../../../../app/containers/inside/insight.ts';
import type { OutputReservation, OutputSlots } from '../../../../../app/terminals/output/output-slots.ts';
import { orThrow } from '../../../errors.ts';
import { operation } from '../../../open-api/route-schema.ts';
import * as refusals from '../../../refusals.ts';
import { bodyOf } from '../../../replies/bodies.ts';
import { ContainerParams } from '../../../schema/common.ts';
import { ChangesBody, LogsQuery, PortsBody, StatsBody } from '../../../schema/containers/insight.ts';
import { joinRoutes, type Routes } from '../../../server.ts';
import { type AbortGuard, enableTcpKeepAlive, flushHeaders, whenClosed } from '../../../streamed-replies.ts';

const MIB = 1024 * 1024;

export const insightRoutes = (
  access: Pick<ContainerAccess, 'logs' | 'usage' | 'changes' | 'ports'>,
  outputs: OutputSlots,
  cutOff: AbortGuard,
): Routes => joinRoutes(programRoutes(access, cutOff), resourceRoutes(access, outputs));

/** The output and the ports of a container's programs. */
const programRoutes =
  (access: Pick<ContainerAccess, 'logs' | 'ports'>, cutOff: AbortGuard): Routes =>
  (http) => {
    http.get(
      '/api/containers/:id/logs',
      {
        exposeHeadRoute: false,
        ...operation('containers.logs', 'Read or follow the output of a container', {
          config: {
            scope: 'read',
            forRestricted: true,
            failure: 'failed to read logs',
            lasting: 'downloads',
          },
          refusals: [...refusals.INSIDE],
          alsoAs: ['text/plain'],
          params: ContainerParams,
          querystring: LogsQuery,
        }),
      },
      async (request, reply) => {
        const { tail, follow } = request.query;
        const wanted = { tail: tail === undefined ? null : Number(tail), follow: follow === 'true' };
        const log = orThrow(await access.logs(request.params.id, wanted, request.caller));
        enableTcpKeepAlive(request);
        cutOff(request, reply);
        flushHeaders(reply);
        return reply.type('text/plain; charset=utf-8').header('x-accel-buffering', 'no').send(log);
      },
    );

    http.get(
      '/api/containers/:id/ports',
      operation('containers.ports', 'List the TCP ports on which programs listen', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to list ports', lasting: 'downloads' },
        refusals: [...refusals.INSIDE, 'command_outcome_unknown'],
        params: ContainerParams,
        response: { 200: PortsBody },
      }),
      async ({ params, caller, origin }) => ({
        ports: [...orThrow(await access.ports(params.id, caller, origin))],
      }),
    );
  };

/** What a container uses, and what a recreate would lose. */
const resourceRoutes =
  (access: Pick<ContainerAccess, 'usage' | 'changes'>, outputs: OutputSlots): Routes =>
  (http) => {
    http.get(
      '/api/containers/:id/stats',
      operation('containers.stats', 'Measure a running container', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to read stats' },
        refusals: [...refusals.INSIDE],
        params: ContainerParams,
        response: { 200: StatsBody },
      }),
      async (request) => toStatsBody(orThrow(await access.usage(request.params.id, request.caller))),
    );

    http.get(
      '/api/containers/:id/changes',
      operation('containers.changes', 'Report what a recreate would lose', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to read changes' },
        refusals: [...refusals.INSIDE],
        params: ContainerParams,
        response: { 200: ChangesBody },
      }),
      async (request, reply) => {
        const { params, caller } = request;
        const body = serializeChanges(orThrow(await access.changes(params.id, caller)));
        return sendJson(reply, outputs.reserve(caller.user.id), body);
      },
    );
  };

/** A long answer waits for a slot of its user. */
async function sendJson(
  reply: FastifyReply,
  room: OutputReservation,
  body: ChangesBody,
): Promise<FastifyReply> {
  whenClosed(reply, room.release);
  const text = JSON.stringify(body);
  if (text.length > room.freeBytes) await room.more();
  return reply.type('application/json; charset=utf-8').send(text);
}

const toStatsBody = (usage: UsageBesideLimits): StatsBody => ({
  time: usage.at.toISOString(),
  cpu: { used_millicores: usage.cpuMillicores, limit_millicores: usage.limits.cpuMillicores },
  memory: { used_bytes: usage.memoryBytes, limit_bytes: usage.limits.memoryMb * MIB },
  disk: { used_bytes: usage.diskBytes, limit_bytes: usage.limits.diskMb * MIB },
  layer: {
    used_bytes: usage.layer.usedMb === null ? null : usage.layer.usedMb * MIB,
    limit_bytes: usage.layer.allowedMb * MIB,
  },
  pids: { used: usage.pids, limit: usage.maxProcesses },
});

export const serializeChanges = bodyOf(ChangesBody);
