import type { DomainError } from '../../../domain/errors.ts';
import { ok, type Result } from '../../../domain/result.ts';
import type { InputOutcome, ProcessInput } from '../../../ports/containers/processes/container-processes.ts';

type Outcome = Result<InputOutcome, DomainError>;
type Write = (input: ProcessInput) => Promise<Outcome>;

/** `unsure`: the last write, when it is not known whether the process has taken it. */
type Inputs = {
  turn: Promise<unknown>;
  end: number | null;
  unsure: { readonly writer: string; readonly offset: number; readonly bytes: number } | null;
  readonly taken: Map<string, number>;
};

const MAX_PROCESSES = 4_096;
const MAX_WRITERS = 1_024;
const NOTHING: ProcessInput = { data: Buffer.alloc(0), offset: null, isLast: false };

/**
 * Input of several writers to a process. Each counts its own bytes, from what the process had when it came, so nobody's
 * input counts as a repeat of another's. Another process of the service does not know them: there a writer comes anew.
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
    const inputs = known ?? { turn: Promise.resolve(), end: null, unsure: null, taken: new Map() };
    this.#all.set(processId, inputs);
    dropOldest(this.#all, MAX_PROCESSES);
    return inputs;
  }
}

async function writeOf(inputs: Inputs, writer: string, input: ProcessInput, write: Write): Promise<Outcome> {
  const asked = await settle(inputs, write);
  if (typeof asked !== 'number') return asked;
  const taken = inputs.taken.get(writer) ?? asked;
  inputs.taken.delete(writer);
  inputs.taken.set(writer, taken);
  dropOldest(inputs.taken, MAX_WRITERS);
  const from = input.offset ?? taken;
  if (from > taken) return ok({ kind: 'gap', inputOffset: taken });
  const data = input.data.subarray(taken - from);
  if (data.length === 0 && !input.isLast) return ok({ kind: 'taken', inputOffset: taken });
  const written = await append(inputs, writer, { ...input, data }, asked, write);
  if (!written.ok || !('inputOffset' in written.value)) return written;
  return ok({ ...written.value, inputOffset: inputs.taken.get(writer) ?? taken });
}

/** Learns how much input the process has, and whether it took the last write. */
async function settle(inputs: Inputs, write: Write): Promise<number | Outcome> {
  const { end, unsure } = inputs;
  if (end !== null && unsure === null) return end;
  const asked = await write(NOTHING);
  if (!asked.ok || asked.value.kind !== 'taken') return asked;
  const { inputOffset } = asked.value;
  if (unsure !== null && inputOffset >= unsure.offset + unsure.bytes)
    count(inputs, unsure.writer, unsure.bytes);
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
    inputs.end = 'inputOffset' in written.value ? written.value.inputOffset : null;
    if (written.value.kind === 'taken') count(inputs, writer, bytes);
    if (written.value.kind !== 'moved') return written;
    offset = written.value.inputOffset;
  }
}

const count = ({ taken }: Inputs, writer: string, bytes: number): void =>
  void taken.set(writer, (taken.get(writer) ?? 0) + bytes);

function dropOldest(map: Map<string, unknown>, most: number): void {
  const [oldest] = map.keys();
  if (map.size > most && oldest !== undefined) map.delete(oldest);
}
