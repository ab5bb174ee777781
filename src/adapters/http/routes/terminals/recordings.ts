import { create as contentDisposition } from 'content-disposition';
import type { Recordings } from '../../../../app/recordings/recordings.ts';
import type { Recording } from '../../../../domain/terminals/recording.ts';
import { MAIN_CONNECTION } from '../../../../domain/terminals/terminal.ts';
import { orThrow } from '../../errors.ts';
import { operation } from '../../open-api/route-schema.ts';
import { paged } from '../../pagination.ts';
import { bodyOf } from '../../replies/bodies.ts';
import { ContainerParams, IdParams } from '../../schema/common.ts';
import * as schema from '../../schema/terminals/recordings.ts';
import { joinRoutes, type Routes } from '../../server.ts';
import { type AbortGuard, abortWhenStalled } from '../../streamed-replies.ts';

export const recordingRoutes = (recordings: Recordings, cutOffReading: AbortGuard): Routes =>
  joinRoutes(
    startRoute(recordings),
    endRoutes(recordings),
    readRoutes(recordings),
    downloadRoute(recordings, cutOffReading),
  );

const startRoute =
  (recordings: Recordings): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/recordings',
      operation('recordings.start', 'Record an open terminal', {
        config: { scope: 'write', forRestricted: true, failure: 'failed to start recording' },
        refusals: [
          'container_not_found',
          'not_authorized',
          'terminal_not_open',
          'recording_quota_reached',
          'recording_elsewhere',
        ],
        params: ContainerParams,
        body: schema.StartRecordingRequest,
        response: { 201: schema.RecordingBody },
      }),
      async ({ params, body, caller, origin }, reply) => {
        const pane = body.connection_id ?? MAIN_CONNECTION;
        return reply.code(201).send(toBody(orThrow(await recordings.start(params.id, pane, caller, origin))));
      },
    );
  };

const endRoutes =
  (recordings: Recordings): Routes =>
  (http) => {
    http.post(
      '/api/recordings/:id/stop',
      operation('recordings.stop', 'Stop a recording', {
        config: { scope: 'write', forRestricted: true, failure: 'failed to stop recording' },
        refusals: ['recording_not_found'],
        params: IdParams,
        response: { 200: schema.RecordingBody },
      }),
      async ({ params, caller }) => toBody(orThrow(await recordings.stop(params.id, caller))),
    );

    http.delete(
      '/api/recordings/:id',
      operation('recordings.delete', 'Delete a recording', {
        config: {
          scope: 'write',
          forRestricted: true,
          shutAfterReset: true,
          failure: 'failed to delete recording',
        },
        refusals: ['recording_not_found', 'recording_elsewhere'],
        params: IdParams,
        response: { 200: schema.DeletedRecordingBody },
      }),
      async ({ params, caller, origin }) => {
        const { id } = orThrow(await recordings.remove(params.id, caller, origin));
        return { id, deleted: true as const };
      },
    );
  };

const readRoutes =
  (recordings: Recordings): Routes =>
  (http) => {
    http.get(
      '/api/recordings',
      operation('recordings.list', 'List your recordings', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to list recordings' },
        querystring: schema.RecordingsQuery,
        response: { 200: schema.RecordingPage },
      }),
      async ({ query, caller }) => {
        const { items, next } = await paged(query, (request) =>
          recordings.list(query.container ?? null, request, caller),
        );
        return { recordings: items.map(toBody), next_cursor: next };
      },
    );

    http.get(
      '/api/recordings/:id',
      operation('recordings.get', "Read a recording's data", {
        config: { scope: 'read', forRestricted: true, failure: 'failed to read recording' },
        refusals: ['recording_not_found'],
        params: IdParams,
        response: { 200: schema.RecordingBody },
      }),
      async ({ params, caller }) => toBody(orThrow(await recordings.find(params.id, caller))),
    );
  };

const downloadRoute =
  (recordings: Recordings, cutOffReading: AbortGuard): Routes =>
  (http) => {
    http.get(
      '/api/recordings/:id/cast',
      {
        exposeHeadRoute: false,
        ...operation('recordings.download', 'Download a recording', {
          config: {
            scope: 'read',
            forRestricted: true,
            failure: 'failed to read recording',
            lasting: 'downloads',
          },
          refusals: ['recording_not_found', 'recording_elsewhere'],
          alsoAs: ['application/x-asciicast'],
          params: IdParams,
        }),
      },
      async (request, reply) => {
        const { recording, content, sizeBytes } = orThrow(
          await recordings.open(request.params.id, request.caller, request.origin),
        );
        cutOffReading(request, reply);
        abortWhenStalled(request);
        return reply
          .header('content-disposition', contentDisposition(fileName(recording)))
          .header('content-length', sizeBytes)
          .type('application/x-asciicast')
          .send(content);
      },
    );
  };

const fileName = ({ containerName, startedAt }: Recording): string =>
  `${containerName}-${startedAt.toISOString().slice(0, 19).replace(/[:T]/g, '-')}.cast`;

const serializeRecording = bodyOf(schema.RecordingBody);

const toBody = (recording: Recording) => serializeRecording({ ...recording, containerId: recording.dbId });
