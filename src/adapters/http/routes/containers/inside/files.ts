import { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ContainerAccess } from '../../../../../app/containers/inside/container-access.ts';
import type { OutputSlots } from '../../../../../app/terminals/output/output-slots.ts';
import { type FilePath, pathText } from '../../../../../domain/containers/files.ts';
import type { Opened } from '../../../../../ports/containers/inside/container-files.ts';
import { orThrow } from '../../../errors.ts';
import { operation } from '../../../open-api/route-schema.ts';
import * as refusals from '../../../refusals.ts';
import { listingAnswer } from '../../../replies/listing-reply.ts';
import { ContainerParams } from '../../../schema/common.ts';
import {
  FileQuery,
  FilesQuery,
  FolderBody,
  RemovedBody,
  UploadedBody,
  UploadQuery,
} from '../../../schema/containers/files.ts';
import type { Routes } from '../../../server.ts';
import {
  type AbortGuard,
  abortWhenStalled,
  accepts,
  drainUpload,
  whenClosed,
} from '../../../streamed-replies.ts';

const url = '/api/containers/:id/files';

export type FileRouteDeps = {
  readonly access: Pick<ContainerAccess, 'openFile' | 'writeFile' | 'removeFile'>;
  readonly outputs: OutputSlots;
  readonly cutOffReading: AbortGuard;
  readonly cutOffWriting: AbortGuard;
};

export const fileRoutes =
  (deps: FileRouteDeps): Routes =>
  (http, tokens) => {
    readRoute(deps)(http, tokens);
    deleteRoute(deps)(http, tokens);
    void http.register(async (uploads: typeof http) => uploadRoute(uploads, deps.access, deps.cutOffWriting));
  };

const readRoute =
  ({ access, outputs, cutOffReading }: FileRouteDeps): Routes =>
  (http) => {
    http.get(
      url,
      {
        exposeHeadRoute: false,
        ...operation('files.read', 'Download a file, or a folder as an archive or listing', {
          config: {
            scope: 'read',
            forRestricted: true,
            failure: 'failed to read file',
            lasting: 'downloads',
          },
          refusals: [...refusals.INSIDE, ...refusals.FILE],
          alsoAs: ['application/octet-stream', 'application/x-tar'],
          params: ContainerParams,
          querystring: FilesQuery,
          response: { 200: FolderBody },
        }),
      },
      async (request, reply) => {
        const folderAs = accepts(request, 'application/json') ? 'listing' : 'archive';
        const { params, query, caller, origin } = request;
        const room = outputs.reserve(caller.user.id);
        whenClosed(reply, room.release);
        const { path, opened } = orThrow(
          await access.openFile(params.id, query.path ?? '', folderAs, caller, origin, room),
        );
        if (opened.kind === 'listing') return sendListing(reply, path, opened);
        cutOffReading(request, reply);
        return download(request, reply, path, opened);
      },
    );
  };

const deleteRoute =
  ({ access }: FileRouteDeps): Routes =>
  (http) => {
    http.delete(
      url,
      operation('files.delete', 'Delete a file or folder', {
        config: { scope: 'write', forRestricted: true, failure: 'failed to delete file' },
        refusals: [...refusals.INSIDE, ...refusals.FILE, 'guest_session_expired', 'file_outcome_unknown'],
        params: ContainerParams,
        querystring: FileQuery,
        response: { 200: RemovedBody },
      }),
      async ({ params, query, caller, origin }) => {
        const path = orThrow(await access.removeFile(params.id, query.path, caller, origin));
        return { path: pathText(path), deleted: true };
      },
    );
  };

/** A body of any type is taken as bytes. */
function uploadRoute(
  http: Parameters<Routes>[0],
  access: Pick<ContainerAccess, 'writeFile'>,
  cutOff: AbortGuard,
): void {
  http.removeAllContentTypeParsers();
  http.addContentTypeParser('*', (_request, payload, done) => done(null, payload));
  http.put(
    url,
    operation('files.write', 'Upload a file', {
      config: {
        scope: 'write',
        forRestricted: true,
        failure: 'failed to write file',
        slowBody: true,
        lasting: 'uploads',
      },
      refusals: [
        ...refusals.INSIDE,
        ...refusals.FILE,
        'guest_session_expired',
        'file_outcome_unknown',
        'file_too_large',
        'disk_full',
      ],
      takes: 'application/octet-stream',
      params: ContainerParams,
      querystring: UploadQuery,
      response: { 200: UploadedBody, 201: UploadedBody },
    }),
    async (request, reply) => {
      abortWhenStalled(request);
      drainUpload(request, reply);
      cutOff(request, reply);
      const content = request.body instanceof Readable ? request.body : Readable.from([]);
      const { params, query, caller, origin } = request;
      const { path, sizeBytes, isNew } = orThrow(
        await access.writeFile(params.id, query.path, content, caller, origin, query.replace !== 'false'),
      );
      return reply.code(isNew ? 201 : 200).send({ path: pathText(path), size: sizeBytes, created: isNew });
    },
  );
}

const sendListing = (
  reply: FastifyReply,
  path: FilePath,
  found: Extract<Opened, { kind: 'listing' }>,
): FastifyReply => reply.type('application/json; charset=utf-8').send(listingAnswer(path, found));

/** Never displayed inline, whatever the content. */
function download(
  request: FastifyRequest,
  reply: FastifyReply,
  path: FilePath,
  opened: Exclude<Opened, { kind: 'listing' }>,
): FastifyReply {
  abortWhenStalled(request);
  const name = path.at(-1) ?? 'workspace';
  const isFile = opened.kind === 'file';
  reply.header('content-disposition', contentDisposition(isFile ? name : `${name}.tar`));
  reply.type(isFile ? 'application/octet-stream' : 'application/x-tar');
  if (isFile) {
    reply.header('content-length', opened.sizeBytes);
    reply.header('last-modified', opened.modifiedAt.toUTCString());
  }
  return reply.send(opened.content);
}
