import { type Static, Type } from '@sinclair/typebox';
import {
  Closed,
  ContainerParams,
  Few,
  FewNamed,
  Flag,
  Named,
  NamedClosed,
  NamedObject,
  Nullable,
  OneOf,
  Text,
  Timestamp,
} from '../common.ts';
import { listQuery, nextCursor } from '../pagination.ts';

/** As in src/domain/containers/environment.ts. */
const MAX_ENV_NAMES = 512;
/** Less would be divided into segments too small to write to. */
const MIN_KEPT_BYTES = 1_048_576;
/** As in src/domain/containers/processes/process-request.ts. */
const MAX_KEPT_BYTES = 8_388_608;
const MAX_TIMEOUT_SECONDS = 604_800;
/** As in src/domain/containers/processes/signals.ts. */
const SIGNALS = ['HUP', 'INT', 'QUIT', 'KILL', 'USR1', 'USR2', 'TERM', 'CONT', 'STOP'] as const;
/** As in src/domain/containers/processes/process.ts. */
const END_REASONS = ['exit', 'signal', 'timeout', 'container_stopped', 'lost', 'not_started'] as const;

export const ProcessParams = Type.Composite([
  ContainerParams,
  Type.Object({ process_id: Type.String({ description: 'The `id` of a process.' }) }),
]);

const side = Type.Integer({ minimum: 1, maximum: 1000 });

export const PtySize = NamedClosed('PtySize', { cols: side, rows: side });

export const StartProcessRequest = NamedClosed('StartProcessRequest', {
  command: Few(Text({ maxLength: 32_768 }), { minItems: 1, maxItems: 1024 }),
  env: Type.Optional(FewNamed(Type.String(), MAX_ENV_NAMES)),
  workdir: Type.Optional(Text({ minLength: 1, maxLength: 4096 })),
  stdin: Type.Optional(Type.Boolean({ description: 'Whether it takes input. By default with a `pty`.' })),
  pty: Type.Optional(PtySize),
  timeout_seconds: Type.Optional(
    Type.Integer({ minimum: 1, maximum: MAX_TIMEOUT_SECONDS, description: 'No limit when absent.' }),
  ),
  name: Type.Optional(Text({ minLength: 1, maxLength: 64 })),
  keep_output_bytes: Type.Optional(
    Type.Integer({
      minimum: MIN_KEPT_BYTES,
      maximum: MAX_KEPT_BYTES,
      description: 'Of stdout and of stderr; the oldest output is removed. Default 8 MiB.',
    }),
  ),
});

const ended = 'null while it runs';

export const ProcessBody = NamedObject('Process', {
  id: Type.String(),
  name: Type.String(),
  command: Type.Array(Type.String()),
  status: OneOf(['starting', 'running', 'ended']),
  pid: Nullable(Type.Integer({ description: 'Inside the container.' })),
  stdin: Type.Boolean({ description: 'Whether it takes input.' }),
  pty: Nullable(PtySize),
  started_at: Timestamp,
  ended_at: Nullable(Timestamp),
  ended_by: Nullable(
    Type.Union(
      END_REASONS.map((reason) => Type.Literal(reason)),
      { description: `${ended}. lost: it ended unseen. not_started: the service ended before it started.` },
    ),
  ),
  exit_code: Nullable(
    Type.Integer({ description: '128 and the number for a signal. null while it runs, or when unknown.' }),
  ),
  signal: Nullable(Type.String({ description: 'The signal that the exit code stands for, without SIG.' })),
});

const Kept = Type.Object({
  bytes: Type.Integer({ description: 'What it has written so far.' }),
  first_kept: Type.Integer({ description: 'The offset of the first byte that is still kept.' }),
  truncated: Type.Boolean({ description: 'Whether some of what it wrote is not kept.' }),
});

export const ProcessDetailBody = Named(
  'ProcessDetail',
  Type.Composite([
    ProcessBody,
    Type.Object({
      output: Nullable(
        Type.Object(
          { stdout: Kept, stderr: Kept },
          { description: 'null when none of it is kept, or none while the container does not run.' },
        ),
      ),
    }),
  ]),
);

export const ProcessList = NamedObject('ProcessList', {
  processes: Type.Array(ProcessBody),
  next_cursor: nextCursor,
});

export const ProcessListQuery = listQuery(['started_at', 'ended_at', 'name'], ['name', 'status']);

const OFFSET = '[0-9]{1,15}';

export const ProcessOutputQuery = Closed({
  after: Type.Optional(
    Type.String({
      pattern: `^${OFFSET}(,${OFFSET})?$`,
      description: 'The bytes of stdout, and after a comma of stderr, that you have. Default `0,0`.',
    }),
  ),
  follow: Flag(),
});

export const ProcessInputQuery = Closed({
  offset: Type.Optional(
    Type.String({
      pattern: `^${OFFSET}$`,
      description: 'The bytes of input before this. Input sent twice is taken once. Default: all so far.',
    }),
  ),
  eof: Flag({ description: 'Whether the input ends here.' }),
});

export const ProcessInputBody = NamedObject('ProcessInputTaken', {
  input_offset: Type.Integer({ description: 'The bytes of input that the process has.' }),
});

export const SignalRequest = NamedClosed('SignalRequest', {
  signal: Type.Union(SIGNALS.map((signal) => Type.Literal(signal))),
});

export type ProcessBody = Static<typeof ProcessBody>;
export type StartProcessRequest = Static<typeof StartProcessRequest>;
export type ProcessOutputQuery = Static<typeof ProcessOutputQuery>;
