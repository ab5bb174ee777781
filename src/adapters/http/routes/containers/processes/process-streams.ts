import { Readable } from 'node:stream';
import type { Processes } from '../../../../../app/containers/processes/processes.ts';
import { offsetsIn } from '../../../../../domain/containers/processes/output-offsets.ts';
import type { ContainerProcess } from '../../../../../domain/containers/processes/process.ts';
import { orThrow } from '../../../errors.ts';
import { operation } from '../../../open-api/route-schema.ts';
import * as refusals from '../../../refusals.ts';
import { outputLines } from '../../../replies/process-output-reply.ts';
import * as schema from '../../../schema/containers/processes.ts';
import type { Routes } from '../../../server.ts';
import { type AbortGuard, enableTcpKeepAlive, flushHeaders, whenClosed } from '../../../streamed-replies.ts';
import { toProcessBody } from './processes.ts';

const one = '/api/containers/:id/processes/:process_id';
const MAX_INPUT_BYTES = 1_048_576;
const STREAM_TYPE = 'application/x-ndjson';

/** Output, input and signals of a process. */
export const processStreamRoutes =
  (processes: Processes, cutOffReading: AbortGuard): Routes =>
  (http, tokens) => {
    outputRoute(processes, cutOffReading)(http, tokens);

    http.post(
      `${one}/signal`,
      operation('processes.signal', 'Signal a process and everything that it started', {
        config: { scope: 'write', forRestricted: true, failure: 'failed to signal process' },
        refusals: [...refusals.PROCESS, 'guest_session_expired', 'process_ended'],
        params: schema.ProcessParams,
        body: schema.SignalRequest,
        response: { 200: schema.ProcessBody },
      }),
      async ({ params, body, caller, origin }) =>
        toProcessBody(
          orThrow(await processes.signal(params.id, params.process_id, body.signal, caller, origin)),
        ),
    );

    http.post(
      `${one}/resize`,
      operation('processes.resize', 'Resize the terminal of a process', {
        config: { scope: 'write', forRestricted: true, failure: 'failed to resize terminal' },
        refusals: [...refusals.PROCESS, 'guest_session_expired', 'process_ended', 'process_without_terminal'],
        params: schema.ProcessParams,
        body: schema.PtySize,
        response: { 200: schema.ProcessBody },
      }),
      async ({ params, body, caller }) =>
        toProcessBody(orThrow(await processes.resize(params.id, params.process_id, body, caller))),
    );

    void http.register(async (inputs: typeof http) => inputRoute(inputs, processes));
  };

const outputRoute =
  (processes: Processes, cutOffReading: AbortGuard): Routes =>
  (http) => {
    http.get(
      `${one}/output`,
      {
        exposeHeadRoute: false,
        ...operation('processes.output', 'Read or follow the output of a process', {
          config: {
            scope: 'read',
            forRestricted: true,
            failure: 'failed to read output',
            lasting: 'downloads',
          },
          refusals: [...refusals.PROCESS],
          alsoAs: [STREAM_TYPE],
          params: schema.ProcessParams,
          querystring: schema.ProcessOutputQuery,
        }),
      },
      async (request, reply) => {
        const { params, query, caller } = request;
        const wanted = { after: offsetsIn(query.after), follow: query.follow === 'true' };
        const output = orThrow(await processes.output(params.id, params.process_id, wanted, caller));
        enableTcpKeepAlive(request);
        cutOffReading(request, reply);
        whenClosed(reply, () => void output.end());
        flushHeaders(reply);
        const lines = Readable.from(outputLines(output, toLastLine), { objectMode: false });
        return reply.type(`${STREAM_TYPE}; charset=utf-8`).header('x-accel-buffering', 'no').send(lines);
      },
    );
  };

/** A body of any type is taken as bytes. */
function inputRoute(http: Parameters<Routes>[0], processes: Processes): void {
  http.removeAllContentTypeParsers();
  http.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  http.post(
    `${one}/input`,
    {
      bodyLimit: MAX_INPUT_BYTES,
      ...operation('processes.input', 'Send input to a process', {
        config: { scope: 'write', forRestricted: true, failure: 'failed to send input', lasting: 'uploads' },
        refusals: [
          ...refusals.PROCESS,
          'guest_session_expired',
          'process_ended',
          'process_without_input',
          'process_input_gap',
          'process_input_closed',
          'process_input_full',
          'process_outcome_unknown',
        ],
        takes: 'application/octet-stream',
        params: schema.ProcessParams,
        querystring: schema.ProcessInputQuery,
        response: { 200: schema.ProcessInputBody },
      }),
    },
    async ({ params, query, body, caller }) => {
      const input = {
        data: Buffer.isBuffer(body) ? body : Buffer.alloc(0),
        offset: query.offset === undefined ? null : Number(query.offset),
        isLast: query.eof === 'true',
      };
      const inputOffset = orThrow(await processes.write(params.id, params.process_id, input, caller));
      return { input_offset: inputOffset };
    },
  );
}

function toLastLine(process: ContainerProcess, after: string): object {
  const { status, exit_code, signal, ended_by } = toProcessBody(process);
  return { exit_code, signal, status, ended_by, after };
}
