import type { ProcessObservation } from '../../../../domain/containers/processes/process.ts';
import type { ContainerObserver, RuntimeHandle } from '../../../../ports/containers/container-runtime.ts';
import type {
  ContainerProcesses,
  InputOutcome,
  OutputOffsets,
  OutputPiece,
  ProcessInput,
} from '../../../../ports/containers/processes/container-processes.ts';
import { requireRunning } from '../inside/container-commands.ts';
import { MemoryProgram } from './memory-program.ts';

const MAX_WAITING_BYTES = 8 * 1_048_576;
const STREAMS = ['stdout', 'stderr'] as const;

/** Processes that are programs in memory. They do not end with their container. */
export function memoryProcesses(runtime: Pick<ContainerObserver, 'observe'>): ContainerProcesses {
  const containers = new Map<string, Map<string, MemoryProgram>>();
  let lastPid = 1;
  const inside = async (handle: RuntimeHandle): Promise<Map<string, MemoryProgram>> => {
    await requireRunning(runtime, handle);
    const programs = containers.get(handle.runtimeId) ?? new Map<string, MemoryProgram>();
    containers.set(handle.runtimeId, programs);
    return programs;
  };
  const find = async (handle: RuntimeHandle, id: string) => (await inside(handle)).get(id) ?? null;

  return {
    async start(handle, id, request) {
      const programs = await inside(handle);
      if (programs.has(id)) return { kind: 'known' };
      const program = new MemoryProgram(++lastPid, request);
      programs.set(id, program);
      return { kind: 'started', pid: program.pid };
    },

    list: async (handle) =>
      new Map([...(await inside(handle))].map(([id, program]) => [id, observationOf(program)])),

    async kept(handle, id) {
      const program = await find(handle, id);
      if (program === null) return null;
      return { stdout: sizes(program.output.stdout), stderr: sizes(program.output.stderr) };
    },

    async output(handle, id, after, follow) {
      const program = await find(handle, id);
      return program === null ? null : outputOf(program, after, follow);
    },

    async write(handle, id, input) {
      const program = await find(handle, id);
      return program === null ? { kind: 'ended' } : written(program, input);
    },

    async signal(handle, id, signal) {
      const program = await find(handle, id);
      if (program === null || program.exit !== null) return false;
      program.signal(signal);
      return true;
    },

    async resize(handle, id, size) {
      const program = await find(handle, id);
      if (program === null || program.exit !== null || program.terminal === null) return false;
      program.terminal = size;
      return true;
    },

    async end(handle, id) {
      const program = await find(handle, id);
      program?.signal('TERM');
      return program === null ? { kind: 'absent' } : observationOf(program);
    },
  };
}

const observationOf = ({ pid, exit }: MemoryProgram): ProcessObservation =>
  exit === null ? { kind: 'running', pid } : { kind: 'exited', ...exit };

function outputOf(program: MemoryProgram, after: OutputOffsets, follow: boolean) {
  const start = { stdout: startIn(program, 'stdout', after), stderr: startIn(program, 'stderr', after) };
  const ending = new AbortController();
  const end = async (): Promise<void> => ending.abort();
  return { start, pieces: pieces(program, start, follow, ending.signal), end };
}

const sizes = ({ bytes, firstKept }: MemoryProgram['output']['stdout']) => ({
  firstKept,
  bytes: firstKept + bytes.length,
});

function startIn({ output }: MemoryProgram, stream: keyof OutputOffsets, after: OutputOffsets): number {
  const { bytes, firstKept } = output[stream];
  return Math.min(Math.max(after[stream], firstKept), firstKept + bytes.length);
}

async function* pieces(
  program: MemoryProgram,
  start: OutputOffsets,
  follow: boolean,
  ended: AbortSignal,
): AsyncGenerator<OutputPiece> {
  const at = { ...start };
  while (!ended.aborted) {
    const isOver = program.exit !== null || !follow;
    const change = program.change(ended);
    for (const stream of STREAMS) {
      const offset = startIn(program, stream, at);
      const { bytes, firstKept } = program.output[stream];
      const data = bytes.subarray(offset - firstKept);
      at[stream] = offset + data.length;
      // Pieces may end at any byte.
      if (data.length > 1) yield { stream, offset, data: data.subarray(0, 1) };
      if (data.length > 1) yield { stream, offset: offset + 1, data: data.subarray(1) };
      if (data.length === 1) yield { stream, offset, data };
    }
    if (isOver) return;
    await change;
  }
}

function written(
  program: MemoryProgram,
  { data, offset, writer = null, isLast }: ProcessInput,
): InputOutcome {
  if (program.exit !== null) return { kind: 'ended' };
  if (!program.takesInput) return { kind: 'no_input' };
  const { writers } = program;
  const known = writer === null ? program.inputOffset : writers.get(writer);
  const inputOffset = known ?? offset ?? program.inputOffset;
  if (writer !== null) writers.set(writer, inputOffset);
  const skip = inputOffset - (offset ?? inputOffset);
  if (skip < 0) return { kind: 'gap', inputOffset };
  const fresh = data.subarray(skip);
  if (fresh.length > 0 && program.isInputClosed) return { kind: 'closed', inputOffset };
  if (fresh.length > MAX_WAITING_BYTES) return { kind: 'full', inputOffset };
  if (fresh.length > 0) program.write(fresh);
  if (writer !== null) writers.set(writer, inputOffset + fresh.length);
  if (isLast) program.closeInput();
  return { kind: 'taken', inputOffset: inputOffset + fresh.length };
}
