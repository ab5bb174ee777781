import { within } from '../../../concurrency/timeout.ts';
import {
  ContainerNotRunning,
  type ContainerObserver,
  nodeSilent,
  type ObservedContainer,
  OutcomeUnknown,
  RightMissing,
  RuntimeFailure,
  RuntimeUnavailable,
} from '../../../ports/containers/container-runtime.ts';
import type {
  ContainerProgram,
  ContainerPrograms,
  ProgramOutput,
  ProgramRequest,
} from '../../../ports/containers/inside/container-programs.ts';
import { workTurns } from '../../engine-queues.ts';
import { engineSlots } from '../../engine-slots.ts';
import { closesWithin } from '../../scripts/exec/closes-within.ts';
import { runScript } from '../../scripts/exec/run-script.ts';
import type { QueuedPrograms } from '../../scripts/queued-programs.ts';
import { ApiFailure, isOfNode, rightAtNode } from '../client/api-failure.ts';
import type { ClusterAccess } from '../client/cluster-access.ts';
import { type ExecSocket, openExecSocket, type PodContainer } from './exec-socket.ts';
import type { ExecEnd } from './exec-status.ts';
import { ProgramStream } from './program-stream.ts';
import { type Start, startOf, unswapped } from './start-program.ts';
import type { FirstProcess } from './start-report.ts';

/** Until the program's first process reports. */
const START_SECONDS = 30;
const ENDED_SECONDS = 2;
/** For a refusal to arrive. */
const REFUSED_MS = 1_000;
/** Processes needed to start a shell: the runtime's own, a script, its programs. */
const PROCESSES_OF_A_START = 16;

/** `PID START`: prints `runs` while that process does, else `over`. */
const LIVENESS = `
{ read -r s < "/proc/$1/stat"; } 2>/dev/null || s=
set -- "$2" \${s##*) }
[ "$1" = "\${21}" ] && echo runs || echo over
`;

/** Prints how many processes there are and may be, without starting one. */
const PROCESSES = `
for d in /sys/fs/cgroup /sys/fs/cgroup/pids; do
  { read -r now < $d/pids.current && read -r most < $d/pids.max; } 2>/dev/null && echo "$now $most"
done
exit 0
`;

/** No process can be made. */
const FULL = /resource temporarily unavailable|cannot fork/i;

export type ProgramDeps = {
  readonly access: ClusterAccess;
  /** Where the container of a runtime id would be. Throws `ContainerNotRunning` for what is no such id. */
  readonly podContainerOf: (runtimeId: string) => PodContainer;
  readonly observe: ContainerObserver['observe'];
  /** The cluster's name in handles. */
  readonly node: string;
};

/** Programs by the exec of a cluster's API server, and the turns of those who wait for it. */
export function clusterPrograms(deps: ProgramDeps): QueuedPrograms {
  const slots = engineSlots();
  const work = workTurns(slots.ownerOf);
  const programs: QueuedPrograms = {
    async start(runtimeId, request) {
      const opening = async (): Promise<ContainerProgram> => {
        const { stream, first } = await startProgram(deps, runtimeId, request);
        return programOf(stream, request, () => runs(programs, runtimeId, first));
      };
      return await (request.isInBackground === true ? opening() : slots.start(runtimeId, opening));
    },
    isStartReport: () => false,
    isFull: (runtimeId) => isFull(programs, runtimeId),
    isIdle: () => slots.waiting() === 0,
    ownerOf: slots.ownerOf,
    transfer: work.transfer,
    piece: work.piece,
    listen(listener) {
      for (const turns of [slots, work]) turns.listen(listener);
    },
    waiting: () => ({ calls: slots.waiting(), work: work.waiting() }),
    idOf({ runtimeId, ownerId }) {
      slots.belongs(runtimeId, ownerId);
      return runtimeId;
    },
  };
  return programs;
}

type Started = { readonly stream: ProgramStream; readonly first: FirstProcess };

async function startProgram(deps: ProgramDeps, runtimeId: string, request: ProgramRequest): Promise<Started> {
  const start = startOf(request);
  const { socket, canEndInput } = await openExec(deps, runtimeId, request, start);
  const inputEnd = canEndInput ? 'native' : 'framed';
  const { form } = request;
  const stream = new ProgramStream({ socket, form, inputEnd, start });
  try {
    await request.startAfter;
  } catch (error) {
    refuse(stream, start);
    throw error;
  }
  stream.sendFirst(start.program(inputEnd));
  const first = await within(START_SECONDS * 1000, stream.started, null);
  if (first !== null) return { stream, first };
  stream.destroy();
  throw notStarted(stream.ended);
}

/**
 * The name of a Pod says nothing about the generation of its container. It is looked at meanwhile: nothing of the user
 * starts before the program is sent.
 */
async function openExec(
  { access, podContainerOf, observe, node }: ProgramDeps,
  runtimeId: string,
  { form }: ProgramRequest,
  start: Start,
): Promise<ExecSocket> {
  const isTerminal = form === 'terminal';
  const target = { ...podContainerOf(runtimeId), command: start.command, isTerminal };
  const [opened, seen] = await Promise.allSettled([
    openExecSocket(access, target),
    observe({ node, runtimeId }),
  ]);
  const isRunning = seen.status === 'fulfilled' && seen.value.kind === 'running';
  if (opened.status === 'fulfilled') {
    if (isRunning) return opened.value;
    opened.value.socket.on('error', () => {});
    opened.value.socket.resume();
    refuse(new ProgramStream({ ...opened.value, form, inputEnd: 'native', start }), start);
  }
  if (seen.status === 'rejected') throw seen.reason;
  if (!isRunning) throw notRunning(seen.value);
  throw await refusalOf((opened as PromiseRejectedResult).reason, () => observe({ node, runtimeId }));
}

/** Without input it would wait for ever, if it has a terminal. */
function refuse(stream: ProgramStream, { refusal }: Start): void {
  stream.sendFirst(refusal);
  stream.resume();
  setTimeout(() => stream.destroy(), REFUSED_MS).unref();
}

/** A Pod that is starting or ending has no container to start something in. */
const NO_CONTAINER = /container not found|not running|stopped container|does not exist|CONTAINER_EXITED/i;

/** Said by newer API servers after the connection has opened; older ones refuse it. Nothing was started. */
const NO_NODE = /error (dialing|sending request)|dial tcp|unable to upgrade|i\/o timeout|deadline exceeded/i;

const notRunning = ({ kind }: ObservedContainer): ContainerNotRunning =>
  new ContainerNotRunning(`the container is ${kind}`, kind === 'gone');

/** Of a container that has ended, or of a node that is lost, or has just started and does not know its Pods yet. */
async function refusalOf(error: unknown, observe: () => Promise<ObservedContainer>): Promise<unknown> {
  const hasNone = error instanceof ApiFailure && (error.status === 404 || error.status === 400);
  if (!hasNone && !isOfNode(error)) return error;
  const seen = await observe();
  return seen.kind === 'running' ? nodeSilent(error) : notRunning(seen);
}

function notStarted(ended: ExecEnd | null): Error {
  if (ended === null) return new OutcomeUnknown('the cluster did not confirm the start of a program');
  if (ended.kind === 'exited') return new RuntimeFailure(`a program ended before its start: ${ended.code}`);
  const fault = new RuntimeFailure(`a program was not started: ${ended.message}`);
  if (NO_CONTAINER.test(ended.message)) return new ContainerNotRunning(ended.message, false);
  if (!NO_NODE.test(ended.message)) return fault;
  const right = rightAtNode(ended.message);
  return right === null ? nodeSilent(fault) : new RightMissing(right, fault.message);
}

function programOf(
  stream: ProgramStream,
  { form }: ProgramRequest,
  asksWhetherItRuns: () => Promise<boolean>,
): ContainerProgram {
  return {
    stream,
    output: () => (form === 'apart' ? stream : asOutput(stream)),
    async exitCode() {
      await closesWithin(stream, ENDED_SECONDS);
      if (stream.ended?.kind !== 'exited') return null;
      const { code } = stream.ended;
      // A connection that ended early looks like this, too.
      if (code === 0 && (await asksWhetherItRuns().catch(() => true))) return null;
      return form === 'terminal' ? code : unswapped(code);
    },
    isRunning: async () =>
      stream.ended?.kind === 'exited' && stream.ended.code !== 0 ? false : await asksWhetherItRuns(),
    resize: (cols, rows) => stream.resize(cols, rows),
  };
}

async function* asOutput(stream: AsyncIterable<Buffer>): AsyncGenerator<ProgramOutput> {
  for await (const data of stream) yield { stream: 'stdout', data };
}

/** Throws when the container does not answer. */
async function runs(
  programs: ContainerPrograms,
  runtimeId: string,
  { pid, startedAt }: FirstProcess,
): Promise<boolean> {
  try {
    const word = (await runScript(programs, runtimeId, LIVENESS, [pid, startedAt])).trim();
    if (word === 'runs' || word === 'over') return word === 'runs';
  } catch (error) {
    if (error instanceof ContainerNotRunning) return false;
    throw error;
  }
  throw new RuntimeUnavailable('a container does not say whether a program runs');
}

async function isFull(programs: ContainerPrograms, runtimeId: string): Promise<boolean> {
  try {
    const [now, most] = (await runScript(programs, runtimeId, PROCESSES, [])).split(/\s/).map(Number);
    // Without a limit the second is the word `max`.
    return now !== undefined && most !== undefined && now + PROCESSES_OF_A_START > most;
  } catch (error) {
    return error instanceof RuntimeFailure && FULL.test(error.message);
  }
}
