import type { Containers } from '../../../app/containers/index.ts';
import { orThrow } from '../errors.ts';
import { IdParams } from '../schema/common.ts';
import { ExecRequestBody, ExecResultBody } from '../schema/containers.ts';
import type { Routes } from '../server.ts';

const DEFAULT_TIMEOUT_SECONDS = 60;

export const execRoutes =
  (containers: Pick<Containers, 'exec'>): Routes =>
  (http) => {
    http.post(
      '/api/containers/:id/exec',
      {
        config: { scope: 'write', failure: 'failed to execute command' },
        bodyLimit: 1_048_576,
        schema: { params: IdParams, body: ExecRequestBody, response: { 200: ExecResultBody } },
      },
      async (request) => {
        const { command, stdin, env, workdir, timeout_seconds } = request.body;
        const result = orThrow(
          await containers.exec(
            request.params.id,
            {
              command,
              timeoutSeconds: timeout_seconds ?? DEFAULT_TIMEOUT_SECONDS,
              ...(stdin === undefined ? {} : { stdin: Buffer.from(stdin) }),
              ...(env === undefined ? {} : { env }),
              ...(workdir === undefined ? {} : { workdir }),
            },
            request.caller,
          ),
        );
        return {
          exit_code: result.exitCode,
          stdout: result.stdout.toString(),
          stderr: result.stderr.toString(),
          truncated: result.truncated,
          duration_ms: result.durationMs,
        };
      },
    );
  };
