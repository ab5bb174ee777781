import { createHash } from 'node:crypto';
import type { ProcessObservation } from '../../../domain/containers/processes/process.ts';
import type { ProcessRequest } from '../../../domain/containers/processes/process-request.ts';
import {
  OutcomeUnknown,
  RuntimeFailure,
  type RuntimeHandle,
} from '../../../ports/containers/container-runtime.ts';
import type { ContainerCommands } from '../../../ports/containers/inside/container-commands.ts';
import type {
  ContainerProcesses,
  InputOutcome,
  KeptOutput,
  ProcessStart,
} from '../../../ports/containers/processes/container-processes.ts';
import { END, INSPECT, LIST, SIGNAL } from './control-scripts.ts';
import { followOutput } from './output-reader.ts';
import { type Printed, scriptRunner } from './process-script.ts';
import { WRITE } from './stream-scripts.ts';
import { START, SUPERVISE } from './supervisor-scripts.ts';
import { RESIZE } from './terminal-scripts.ts';

/** Input that a program has not read yet. */
const MAX_WAITING_BYTES = 8 * 1_048_576;
const READ_BYTES = 4096;
/** Outputs are kept in segments, and removed by segments, of which one may grow to twice its size. */
const SEGMENTS = 16;
/** More than SIGTERM, its five seconds, and SIGKILL take. */
const END_SECONDS = 30;

/**
 * Processes by scripts in the container, which need a POSIX shell and its usual tools. All that is known about a
 * process is in the container. What scripts print is not trusted: a user can replace the tools.
 */
export function shellProcesses(commands: ContainerCommands): ContainerProcesses {
  const run = scriptRunner(commands);

  async function start(handle: RuntimeHandle, id: string, request: ProcessRequest): Promise<ProcessStart> {
    const printed = await run(handle, START, [SUPERVISE, id, ...argumentsOf(request)], {
      env: request.env,
    });
    const [word, value] = printed.lines[0] ?? [];
    switch (word) {
      case 'started':
        return { kind: 'started', pid: pidIn(value) };
      case 'known':
        return { kind: 'known' };
      case 'tools':
        return { kind: 'tool_missing', tool: value ?? '' };
      default:
        return notStarted(printed);
    }
  }

  const list = async (handle: RuntimeHandle): Promise<ReadonlyMap<string, ProcessObservation>> =>
    new Map((await run(handle, LIST, [])).lines.flatMap((line) => entryOf(line)));

  return {
    start,
    list,

    async kept(handle, id) {
      const [, stdout, stderr] = (await run(handle, INSPECT, [id])).lines;
      return stdout === undefined || stderr === undefined
        ? null
        : { stdout: sizesIn(stdout), stderr: sizesIn(stderr) };
    },

    output: (handle, id, after, follow) => followOutput(commands, { handle, id, after, follow }),

    async write(handle, id, { data, offset, writer = null, isLast }) {
      const args = [id, offset === null ? '' : String(offset), String(data.length), yesOrNo(isLast)];
      const more = [String(MAX_WAITING_BYTES), writer === null ? '' : fileNameOf(writer)];
      const asked = await run(handle, WRITE, [...args, ...more], { stdin: data });
      return outcomeOf(asked);
    },

    async signal(handle, id, signal) {
      return (await run(handle, SIGNAL, [id, signal])).lines[0]?.[0] === 'sent';
    },

    async resize(handle, id, { cols, rows }) {
      const asked = await run(handle, RESIZE, [id, String(cols), String(rows)]);
      return asked.lines[0]?.[0] === 'resized';
    },

    async end(handle, id) {
      const [line = []] = (await run(handle, END, [id], { seconds: END_SECONDS })).lines;
      return entryOf(line)[0]?.[1] ?? { kind: 'absent' };
    },
  };
}

function argumentsOf(request: ProcessRequest): string[] {
  const { keptBytes, timeoutSeconds, takesInput, terminal, workdir, command } = request;
  const segment = Math.floor(keptBytes / SEGMENTS);
  // The segment that grows may have twice its size less one read.
  const numbers = [Math.ceil(segment / READ_BYTES), segment, keptBytes - 2 * segment, timeoutSeconds ?? 0];
  const size = terminal === null ? '' : `${terminal.cols}x${terminal.rows}`;
  return [...numbers.map(String), yesOrNo(takesInput), workdir ?? '', size, ...command];
}

const fileNameOf = (writer: string): string => createHash('sha256').update(writer).digest('hex').slice(0, 32);

const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no');

/** A shell that cannot start programs has started nothing. */
function notStarted({ complaints, exitCode }: Printed): ProcessStart {
  if (/fork|resource temporarily unavailable/i.test(complaints)) return { kind: 'no_processes' };
  throw new RuntimeFailure(`a process was not started (${exitCode}): ${complaints.slice(0, 500)}`);
}

type Line = readonly string[];

/** Empty for a line that is none, such as one of a process that is being started. */
function entryOf([id = '', word, ...values]: Line): readonly [string, ProcessObservation][] {
  switch (word) {
    case 'running':
      return [[id, { kind: 'running', pid: pidIn(values[0]) }]];
    case 'exit': {
      const [code, late, epoch] = values;
      const at = new Date(numberIn(epoch) * 1000);
      return [[id, { kind: 'exited', exitCode: numberIn(code), isTimedOut: late === 'late', at }]];
    }
    case 'lost':
      return [[id, { kind: 'lost' }]];
    default:
      return [];
  }
}

const sizesIn = ([first, end]: Line): KeptOutput['stdout'] => ({
  firstKept: numberIn(first),
  bytes: numberIn(end),
});

function outcomeOf({ lines, complaints }: Printed): InputOutcome {
  const [word, value] = lines[0] ?? [];
  switch (word) {
    case 'taken':
    case 'gap':
    case 'closed':
    case 'full':
      return { kind: word, inputOffset: numberIn(value) };
    case 'ended':
      return { kind: 'ended' };
    case 'none':
      return { kind: 'no_input' };
    default:
      throw new OutcomeUnknown(`input may not have been taken: ${complaints.slice(0, 500)}`);
  }
}

function numberIn(text: string | undefined): number {
  if (text === undefined || !/^\d{1,15}$/.test(text))
    throw new RuntimeFailure('a script in the container printed something else than a number');
  return Number(text);
}

const pidIn = (text: string | undefined): number => Math.min(numberIn(text), 2 ** 31 - 1);
