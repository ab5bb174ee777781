import type { Processes, ProcessWithOutput } from '../../../../../app/containers/processes/processes.ts';
import type { StartRequest } from '../../../../../app/containers/processes/start-process.ts';
import type { Idempotency } from '../../../../../app/idempotency.ts';
import type { ContainerProcess } from '../../../../../domain/containers/processes/process.ts';
import { MAX_KEPT_BYTES } from '../../../../../domain/containers/processes/process-request.ts';
import { signalOfExit } from '../../../../../domain/containers/processes/signals.ts';
import { orThrow } from '../../../errors.ts';
import { IdempotencyHeaders, onlyOnce } from '../../../idempotency.ts';
import { listBody } from '../../../list-pages.ts';
import { operation } from '../../../open-api/route-schema.ts';
import * as refusals from '../../../refusals.ts';
import { ContainerParams } from '../../../schema/common.ts';
import * as schema from '../../../schema/containers/processes.ts';
import { joinRoutes, type Routes } from '../../../server.ts';

const url = '/api/containers/:id/processes';
const one = `${url}/:process_id`;
/** As for commands: parsing takes some milliseconds of the event loop. */
const MAX_BODY_BYTES = 262_144;

/** Starting, listing and ending processes. */
export const processRoutes = (processes: Processes, keys: Idempotency): Routes =>
  joinRoutes(startRoute(processes, keys), listRoutes(processes));

const startRoute =
  (processes: Processes, keys: Idempotency): Routes =>
  (http) => {
    http.post(
      url,
      {
        bodyLimit: MAX_BODY_BYTES,
        ...operation('processes.start', 'Start a process that outlives the request', {
          config: {
            scope: 'write',
            forRestricted: true,
            makesRecord: true,
            failure: 'failed to start process',
            lasting: 'commands',
          },
          refusals: [
            ...refusals.INSIDE,
            'guest_session_expired',
            'process_limit_reached',
            'name_taken',
            'process_tools_missing',
            'command_outcome_unknown',
          ],
          params: ContainerParams,
          headers: IdempotencyHeaders,
          body: schema.StartProcessRequest,
          response: { 201: schema.ProcessBody },
        }),
      },
      async (request, reply) => {
        const { params, caller, origin } = request;
        const wanted = toRequest(request.body);
        const { body } = await onlyOnce(keys, request, reply, {
          first: async (note) =>
            toAnswer(orThrow(await processes.start(params.id, wanted, caller, origin, note))),
          replay: async (processId) => {
            const made = await processes.resumeStart(params.id, processId, wanted, caller);
            return made.ok ? toAnswer(made.value) : null;
          },
        });
        return reply.code(201).send(body);
      },
    );
  };

const listRoutes =
  (processes: Processes): Routes =>
  (http) => {
    http.get(
      url,
      operation('processes.list', 'List running and recently ended processes', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to list processes' },
        refusals: [...refusals.INSIDE],
        params: ContainerParams,
        querystring: schema.ProcessListQuery,
        response: { 200: schema.ProcessList },
      }),
      async ({ params, caller, query }) => {
        const all = orThrow(await processes.list(params.id, caller));
        return listBody('processes', all.map(toProcessBody), query, 'id');
      },
    );

    http.get(
      one,
      operation('processes.get', 'Get a process', {
        config: { scope: 'read', forRestricted: true, failure: 'failed to read process' },
        refusals: [...refusals.PROCESS],
        params: schema.ProcessParams,
        response: { 200: schema.ProcessDetailBody },
      }),
      async ({ params, caller }) =>
        toDetailBody(orThrow(await processes.get(params.id, params.process_id, caller))),
    );

    http.delete(
      one,
      operation('processes.end', 'End a process and everything that it started', {
        config: {
          scope: 'write',
          forRestricted: true,
          failure: 'failed to end process',
          lasting: 'commands',
        },
        refusals: [...refusals.PROCESS, 'guest_session_expired'],
        params: schema.ProcessParams,
        response: { 200: schema.ProcessBody },
      }),
      async ({ params, caller, origin }) =>
        toProcessBody(orThrow(await processes.end(params.id, params.process_id, caller, origin))),
    );
  };

const toRequest = (body: schema.StartProcessRequest): StartRequest => ({
  name: body.name ?? null,
  request: {
    command: body.command,
    env: body.env ?? {},
    workdir: body.workdir ?? null,
    takesInput: body.stdin ?? body.pty !== undefined,
    terminal: body.pty ?? null,
    timeoutSeconds: body.timeout_seconds ?? null,
    keptBytes: body.keep_output_bytes ?? MAX_KEPT_BYTES,
  },
});

const toAnswer = (process: ContainerProcess) => ({ status: 201, body: toProcessBody(process) });

export function toProcessBody({
  id,
  name,
  command,
  takesInput,
  terminal,
  startedAt,
  state,
}: ContainerProcess): schema.ProcessBody {
  const end = state.kind === 'ended' ? state : null;
  const exitCode = end?.exitCode ?? null;
  return {
    id,
    name,
    command: [...command],
    status: state.kind,
    stdin: takesInput,
    pty: terminal,
    pid: 'pid' in state ? state.pid : null,
    started_at: startedAt.toISOString(),
    ended_at: end?.endedAt.toISOString() ?? null,
    ended_by: end?.by ?? null,
    exit_code: exitCode,
    signal: exitCode === null ? null : signalOfExit(exitCode),
  };
}

const toKeptBody = (
  { bytes, firstKept }: { readonly bytes: number; readonly firstKept: number },
  isWhole: boolean,
) => ({ bytes, first_kept: firstKept, truncated: firstKept > 0 || !isWhole });

const toDetailBody = ({ process, output }: ProcessWithOutput) => ({
  ...toProcessBody(process),
  output:
    output === null
      ? null
      : {
          stdout: toKeptBody(output.stdout, output.isWhole),
          stderr: toKeptBody(output.stderr, output.isWhole),
        },
});
