import type { DomainError } from '../../../domain/errors.ts';
import { ok, type Result } from '../../../domain/result.ts';
import type { InputOutcome, ProcessInput } from '../../../ports/containers/processes/container-processes.ts';

type Outcome = Result<InputOutcome, DomainError>;
type Write = (input: ProcessInput) => Promise<Outcome>;

/** How much of a writer's input the process has, and the value of `moves` when the writer was last active here. */
type Writer = { taken: number; moves: number };

/**
 * `unsure`: the last write, when it is not known whether the process has taken it. `moves` counts how often input was
 * found that came by another way.
 */
type Inputs = {
  turn: Promise<unknown>;
  end: number | null;
  unsure: { readonly writer: string; readonly offset: number; readonly bytes: number } | null;
  moves: number;
  readonly writers: Map<string, Writer>;
};

const MAX_PROCESSES = 4_096;
const MAX_WRITERS = 1_024;
const NOTHING: ProcessInput = { data: Buffer.alloc(0), offset: null, isLast: false };

/**
 * Input of several writers to a process. Each writer counts its own bytes, from what the process had when the writer
 * connected, so no input counts as a repeat of another writer's. A writer starts again at the end of all input on another
 * replica, and on this one when other input has arrived since it was last active: that input may be its own.
 */
export class ProcessInputs {
  readonly #all = new Map<string, Inputs>();

  /** Offsets are those of the writer. `write` has the process's own. */
  write(processId: string, writer: string, input: ProcessInput, write: Write): Promise<Outcome> {
    const inputs = this.#of(processId);
    const turn = inputs.turn.then(() => writeOf(inputs, writer, input, write));
    inputs.turn = turn.catch(() => {});
    return turn;
  }

  #of(processId: string): Inputs {
    const known = this.#all.get(processId);
    this.#all.delete(processId);
    const inputs = known ?? {
      turn: Promise.resolve(),
      end: null,
      unsure: null,
      moves: 0,
      writers: new Map(),
    };
    this.#all.set(processId, inputs);
    dropOldest(this.#all, MAX_PROCESSES);
    return inputs;
  }
}

async function writeOf(inputs: Inputs, name: string, input: ProcessInput, write: Write): Promise<Outcome> {
  const asked = await settle(inputs, write, input.offset === null);
  if (typeof asked !== 'number') return asked;
  const writer = writerOf(inputs, name, input.offset, asked);
  const from = input.offset ?? writer.taken;
  if (from > writer.taken) return ok({ kind: 'gap', inputOffset: writer.taken });
  const data = input.data.subarray(writer.taken - from);
  if (data.length === 0 && !input.isLast) return ok({ kind: 'taken', inputOffset: writer.taken });
  const written = await append(inputs, name, { ...input, data }, asked, write);
  if (!written.ok || !('inputOffset' in written.value)) return written;
  return ok({ ...written.value, inputOffset: writer.taken });
}

/** `offset` is null for a writer that connects. A forgotten writer that sends its own offset continues there. */
function writerOf(inputs: Inputs, name: string, offset: number | null, end: number): Writer {
  const { writers, moves } = inputs;
  const known = writers.get(name);
  const isStale = known === undefined || (offset === null && known.moves !== moves);
  const writer = isStale ? { taken: offset ?? end, moves } : known;
  writers.delete(name);
  writers.set(name, writer);
  dropOldest(writers, MAX_WRITERS);
  return writer;
}

/** Learns whether the process took the last write, and, where `isAsked`, how much input it has now. */
async function settle(inputs: Inputs, write: Write, isAsked: boolean): Promise<number | Outcome> {
  const { end, unsure } = inputs;
  if (end !== null && unsure === null && !isAsked) return end;
  const asked = await write(NOTHING);
  if (!asked.ok || asked.value.kind !== 'taken') return asked;
  const { inputOffset } = asked.value;
  let expected = end;
  if (unsure !== null) {
    const isTaken = inputOffset >= unsure.offset + unsure.bytes;
    if (isTaken) count(inputs, unsure.writer, unsure.bytes);
    expected = unsure.offset + (isTaken ? unsure.bytes : 0);
  }
  if (inputOffset !== expected) inputs.moves += 1;
  inputs.unsure = null;
  inputs.end = inputOffset;
  return inputOffset;
}

/** Writes at the end, wherever others have moved it. */
async function append(
  inputs: Inputs,
  writer: string,
  input: ProcessInput,
  end: number,
  write: Write,
): Promise<Outcome> {
  const bytes = input.data.length;
  for (let offset = end; ; ) {
    inputs.unsure = { writer, offset, bytes };
    const written = await write({ ...input, offset, isNext: true });
    if (!written.ok) return written;
    inputs.unsure = null;
    const isTaken = written.value.kind === 'taken';
    if (isTaken) count(inputs, writer, bytes);
    inputs.end = 'inputOffset' in written.value ? written.value.inputOffset : null;
    if (inputs.end !== offset + (isTaken ? bytes : 0)) inputs.moves += 1;
    if (written.value.kind !== 'moved') return written;
    offset = written.value.inputOffset;
  }
}

function count({ writers, moves }: Inputs, name: string, bytes: number): void {
  const writer = writers.get(name);
  if (writer === undefined) return;
  writer.taken += bytes;
  writer.moves = moves;
}

function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
