import { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Static } from '@sinclair/typebox';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { CommandOutput } from '../../../../../app/containers/inside/command-output.ts';
import type { ContainerAccess } from '../../../../../app/containers/inside/container-access.ts';
import type { OutputSlots } from '../../../../../app/terminals/output/output-slots.ts';
import type {
  CommandEvent,
  RunningCommand,
  TimedCommand,
} from '../../../../../ports/containers/inside/container-commands.ts';
import { orThrow } from '../../../errors.ts';
import { operation } from '../../../open-api/route-schema.ts';
import * as refusals from '../../../refusals.ts';
import { execAnswer } from '../../../replies/exec-reply.ts';
import { ContainerParams } from '../../../schema/common.ts';
import { ExecRequestBody, ExecResultBody } from '../../../schema/containers/containers.ts';
import type { Routes } from '../../../server.ts';
import {
  type AbortGuard,
  accepts,
  enableTcpKeepAlive,
  flushHeaders,
  whenClosed,
} from '../../../streamed-replies.ts';

const DEFAULT_TIMEOUT_SECONDS = 60;
/** Parsing takes some milliseconds of the event loop. Longer input belongs in files. */
const MAX_BODY_BYTES = 262_144;
const STREAM_TYPE = 'application/x-ndjson';

/** Answers at the end, or line by line for `Accept: application/x-ndjson`. */
export const execRoutes =
  (access: Pick<ContainerAccess, 'exec' | 'streamExec'>, outputs: OutputSlots, cutOff: AbortGuard): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/exec',
      {
        bodyLimit: MAX_BODY_BYTES,
        ...operation('containers.exec', 'Run a command', {
          config: {
            scope: 'write',
            forRestricted: true,
            failure: 'failed to execute command',
            lasting: 'commands',
          },
          refusals: [...refusals.INSIDE, 'guest_session_expired', 'command_outcome_unknown'],
          alsoAs: ['application/x-ndjson'],
          params: ContainerParams,
          body: ExecRequestBody,
          response: { 200: ExecResultBody },
        }),
      },
      async (request, reply) => {
        const { params, body, caller, origin } = request;
        if (accepts(request, STREAM_TYPE)) {
          const running = orThrow(await access.streamExec(params.id, toCommand(body), caller, origin));
          cutOff(request, reply);
          return sendLines(request, reply, running);
        }
        cutOff(request, reply);
        const room = outputs.reserve(caller.user.id);
        whenClosed(reply, room.release);
        const result = await access.exec(params.id, toCommand(body), room, caller, origin);
        return sendResult(reply, orThrow(result));
      },
    );
  };

const toCommand = ({
  command,
  stdin,
  env,
  workdir,
  timeout_seconds,
}: Static<typeof ExecRequestBody>): TimedCommand => ({
  command,
  timeoutSeconds: timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
  ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin) }),
  ...(env === undefined ? {} : { env }),
  ...(workdir === undefined ? {} : { workdir }),
});

const sendResult = (reply: FastifyReply, result: CommandOutput): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(execAnswer(result));

/** The command ends with the answer, even without a reader. */
function sendLines(request: FastifyRequest, reply: FastifyReply, running: RunningCommand): FastifyReply {
  enableTcpKeepAlive(request);
  const lines = Readable.from(linesOf(running.events), { objectMode: false });
  whenClosed(reply, () => void running.end());
  flushHeaders(reply);
  return reply.type(`${STREAM_TYPE}; charset=utf-8`).header('x-accel-buffering', 'no').send(lines);
}

/** Joins characters that were cut in two, for each stream separately. */
async function* linesOf(events: AsyncIterable<CommandEvent>): AsyncGenerator<string> {
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  for await (const event of events) {
    if (event.kind === 'output') {
      const data = decoders[event.stream].write(event.data);
      if (data !== '') yield line({ stream: event.stream, data });
      continue;
    }
    for (const stream of ['stdout', 'stderr'] as const) {
      const data = decoders[stream].end();
      if (data !== '') yield line({ stream, data });
    }
    yield line({ exit_code: event.exitCode });
  }
}

const line = (value: object): string => `${JSON.stringify(value)}\n`;
