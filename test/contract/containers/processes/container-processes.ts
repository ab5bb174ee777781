import { randomUUID } from 'node:crypto';
import t, { type Test } from 'tap';
import type { ProcessRequest } from '../../../../src/domain/containers/processes/process-request.ts';
import type { ContainerRuntime, RuntimeHandle } from '../../../../src/ports/containers/container-runtime.ts';
import type {
  ContainerProcesses,
  OutputName,
  OutputOffsets,
} from '../../../../src/ports/containers/processes/container-processes.ts';
import { aSpec } from '../../../support/engine/container.ts';
import { eventually, waitFor } from '../../../support/patience.ts';

const NOTHING: OutputOffsets = { stdout: 0, stderr: 0 };
const MIB = 1_048_576;

export const aRequest = (command: readonly string[], over: Partial<ProcessRequest> = {}): ProcessRequest => ({
  command,
  env: {},
  workdir: null,
  takesInput: false,
  terminal: null,
  timeoutSeconds: null,
  keptBytes: MIB,
  ...over,
});

type Inside = {
  readonly runtime: ContainerRuntime;
  readonly processes: ContainerProcesses;
  readonly image: string;
  /** Whether the image has what terminals need. */
  readonly hasTerminals?: boolean;
};

/** The processes of one container. */
export function processesIn(processes: ContainerProcesses, handle: RuntimeHandle) {
  const start = async (command: readonly string[], over?: Partial<ProcessRequest>): Promise<string> => {
    const id = randomUUID();
    const { kind } = await processes.start(handle, id, aRequest(command, over));
    if (kind !== 'started') throw new Error(`a process was not started: ${kind}`);
    return id;
  };
  const state = async (id: string) => (await processes.list(handle)).get(id) ?? null;
  /** All output from these offsets on; each piece must continue its stream, unless some was removed. */
  const output = async (id: string, after = NOTHING, follow = true) => {
    const opened = await processes.output(handle, id, after, follow);
    if (opened === null) return null;
    const read: Record<OutputName, Buffer[]> = { stdout: [], stderr: [] };
    const at = { ...opened.start };
    for await (const { stream, offset, data } of opened.pieces) {
      if (offset !== at[stream]) throw new Error(`${stream} goes on at ${offset}, not ${at[stream]}`);
      at[stream] += data.length;
      read[stream].push(data);
    }
    const [stdout, stderr] = [Buffer.concat(read.stdout), Buffer.concat(read.stderr)];
    return { start: opened.start, stdout, stderr };
  };
  const write = (
    id: string,
    text: string,
    offset: number | null = null,
    isLast = false,
    writer: string | null = null,
  ) => processes.write(handle, id, { data: Buffer.from(text), offset, isLast, writer });
  const ended = async (id: string) =>
    await eventually(
      () => state(id),
      (now) => now?.kind === 'exited',
    );
  return { start, state, output, write, ended };
}

/** Guarantees of processes in a container. */
export async function containerProcessesContract(
  name: string,
  { runtime, processes, image, hasTerminals = true }: Inside,
): Promise<void> {
  await t.test(`${name}: processes`, async (t) => {
    const handle = await runtime.create(aSpec(image));
    const inside = processesIn(processes, handle);
    await t.rejects(inside.start(['true']), { name: 'ContainerNotRunning' });
    await runtime.start(handle);
    await t.test('a process ends with its exit code and all its output', (t) => ends(t, inside));
    await t.test('a start is repeatable', async (t) => {
      const id = await inside.start(['cat'], { takesInput: true });
      t.same(await processes.start(handle, id, aRequest(['cat'])), { kind: 'known' });
      t.match(await processes.end(handle, id), { kind: 'exited' });
    });
    await t.test('input is taken once, by its offset', (t) => takesInput(t, inside));
    await t.test('input of each writer is taken once', (t) => takesInputOfWriters(t, inside));
    await t.test('output is followed, and resumed at any byte', (t) => resumes(t, inside, processes, handle));
    await t.test('output is capped, and what was removed is known', async (t) => {
      const id = await inside.start(['head', '-c', String(5 * MIB), '/dev/zero']);
      await inside.ended(id);
      const kept = await processes.kept(handle, id);
      t.equal(kept?.stdout.bytes, 5 * MIB);
      const firstKept = kept?.stdout.firstKept ?? 0;
      t.ok(firstKept >= 4 * MIB && firstKept < 4.5 * MIB, `kept from ${firstKept}`);
      const rest = await inside.output(id);
      t.equal(rest?.start.stdout, firstKept);
      t.equal(rest?.stdout.length, 5 * MIB - firstKept);
    });
    await t.test('signals and time limits', async (t) => {
      const sleeping = await inside.start(['sleep', '3600']);
      t.ok(await processes.signal(handle, sleeping, 'INT'));
      t.match(await inside.ended(sleeping), { exitCode: 130, isTimedOut: false });
      t.notOk(await processes.signal(handle, sleeping, 'INT'), 'it has ended');
      const limited = await inside.start(['sleep', '3600'], { timeoutSeconds: 1 });
      t.match(await inside.ended(limited), { isTimedOut: true });
      const other = await inside.start(['sleep', '3600']);
      t.match(await processes.end(handle, other), { kind: 'exited', exitCode: 143 });
      t.match(await processes.end(handle, other), { kind: 'exited', exitCode: 143 }, 'repeatable');
    });
    await t.test('a program in a terminal', (t) =>
      hasTerminals ? inTerminal(t, inside, processes, handle) : withoutTools(t, processes, handle),
    );
    await t.test('what is not known', async (t) => {
      const id = randomUUID();
      t.equal(await inside.state(id), null);
      t.equal(await inside.output(id), null);
      t.equal(await processes.kept(handle, id), null);
      t.equal(await processes.signal(handle, id, 'TERM'), false);
      t.same(await inside.write(id, 'x'), { kind: 'ended' });
      t.equal(await processes.resize(handle, id, { cols: 80, rows: 24 }), false);
      t.same(await processes.end(handle, id), { kind: 'absent' });
    });
    await runtime.remove(handle);
    await t.rejects(processes.list(handle), { name: 'ContainerNotRunning' });
  });
}

type InsideOne = ReturnType<typeof processesIn>;

async function ends(t: Test, { start, output, ended }: InsideOne): Promise<void> {
  const all = async (command: readonly string[], over?: Partial<ProcessRequest>) => {
    const id = await start(command, over);
    const { stdout, stderr } = (await output(id)) ?? {};
    const { exitCode } = (await ended(id)) as { exitCode: number };
    return { stdout: String(stdout), stderr: String(stderr), exitCode };
  };
  t.same(await all(['echo', 'one', '$HOME; two']), { stdout: 'one $HOME; two\n', stderr: '', exitCode: 0 });
  t.same(await all(['false']), { stdout: '', stderr: '', exitCode: 1 });
  t.match(await all(['no-such-command']), { stdout: '', stderr: /not found/, exitCode: 127 });
  t.match(await all(['pwd'], { workdir: '/run' }), { stdout: '/run\n' });
  t.match(await all(['pwd']), { stdout: '/workspace\n' });
  // Names that the scripts use themselves.
  const env = { name: 'of it', size: '7', path: 'p', HOME: '/elsewhere' };
  const shown = (await all(['env'], { env })).stdout.split('\n');
  for (const [variable, value] of Object.entries(env)) t.ok(shown.includes(`${variable}=${value}`), variable);
}

async function takesInput(t: Test, { start, output, write }: InsideOne): Promise<void> {
  const id = await start(['cat'], { takesInput: true });
  t.same(await write(id, 'hello ', 0), { kind: 'taken', inputOffset: 6 });
  t.same(await write(id, 'hello ', 0), { kind: 'taken', inputOffset: 6 }, 'a repeat');
  t.same(await write(id, 'x', 9), { kind: 'gap', inputOffset: 6 });
  t.same(await write(id, 'lo wörld\n', 3), { kind: 'taken', inputOffset: 13 }, 'the rest of an overlap');
  const both = await Promise.all([write(id, 'a', 13), write(id, 'a', 13)]);
  t.same(both, Array(2).fill({ kind: 'taken', inputOffset: 14 }), 'two at once');
  t.same(await write(id, 'end\n', 14, true), { kind: 'taken', inputOffset: 18 });
  t.equal(String((await output(id))?.stdout), 'hello wörld\naend\n');
  t.same(await write(id, 'x', 18), { kind: 'ended' });
  const deaf = await start(['sleep', '3600']);
  t.same(await write(deaf, 'x'), { kind: 'no_input' });
  const idle = await start(['sleep', '3600'], { takesInput: true });
  t.same(await write(idle, '', null, true), { kind: 'taken', inputOffset: 0 });
  t.same(await write(idle, 'x'), { kind: 'closed', inputOffset: 0 });
}

/** Offsets of a writer hold whichever process of the service passes its input on, and whatever is still on its way. */
async function takesInputOfWriters(t: Test, { start, output, write }: InsideOne): Promise<void> {
  const id = await start(['cat'], { takesInput: true });
  const as = (writer: string, text: string, offset: number | null = null) =>
    write(id, text, offset, false, writer);
  t.same(await as('ada', ''), { kind: 'taken', inputOffset: 0 });
  t.same(await as('ada', 'one ', 0), { kind: 'taken', inputOffset: 4 });
  t.same(await as('bob', ''), { kind: 'taken', inputOffset: 4 }, 'from what was there');
  t.same(await as('ada', 'two ', 4), { kind: 'taken', inputOffset: 8 });
  t.same(await write(id, 'all ', 8), { kind: 'taken', inputOffset: 12 }, 'input of nobody by name');
  t.same(await as('bob', ''), { kind: 'taken', inputOffset: 4 }, "others' input is not its own");
  t.same(await as('bob', 'three ', 4), { kind: 'taken', inputOffset: 10 });
  t.same(await as('ada', 'two ', 4), { kind: 'taken', inputOffset: 8 }, 'a repeat that the program has read');
  t.same(await as('bob', 'three four ', 4), { kind: 'taken', inputOffset: 15 }, 'a repeat, and more');
  t.same(await as('ada', 'x', 9), { kind: 'gap', inputOffset: 8 });
  t.same(await as('cy', 'five ', 700), { kind: 'taken', inputOffset: 705 }, 'one that was forgotten');
  const [known, before] = [{ ada: 8, bob: 15 }, 'one two all three four five '];
  for (const piece of ['a', 'b', 'c']) {
    // As when a lost connection's write still runs while its client sends the same and more by another way.
    const all = (['ada', 'bob'] as const).flatMap((who) => [
      as(who, piece, known[who]),
      as(who, `${piece}${who} `, known[who]),
    ]);
    for (const { kind } of await Promise.all(all)) t.equal(kind, 'taken');
    for (const who of ['ada', 'bob'] as const) known[who] += 5;
  }
  await write(id, '', null, true);
  const read = String((await output(id))?.stdout);
  t.equal(read.slice(0, before.length), before);
  t.equal(read.length, before.length + 30, read);
  for (const who of ['ada', 'bob']) t.equal(read.match(new RegExp(`${who} `, 'g'))?.length, 3, read);
}

const SIZE = { cols: 91, rows: 33 };

async function inTerminal(
  t: Test,
  { start, output, write, ended }: InsideOne,
  processes: ContainerProcesses,
  handle: RuntimeHandle,
): Promise<void> {
  const sized = await start(['stty', 'size'], { terminal: SIZE });
  t.equal(String((await output(sized))?.stdout), '33 91\r\n');
  t.match(await ended(sized), { exitCode: 0 });
  const wrong = await start(['no-such-command'], { terminal: SIZE });
  t.match(String((await output(wrong))?.stdout), /not found\r\n$/, 'all output is one stream');
  t.match(await ended(wrong), { exitCode: 127 });
  const cat = await start(['cat'], { terminal: SIZE, takesInput: true });
  t.same(await write(cat, 'grüße\n', 0), { kind: 'taken', inputOffset: 8 });
  const echoed = async () => String((await output(cat, NOTHING, false))?.stdout);
  await waitFor(async () => (await echoed()) === 'grüße\r\n'.repeat(2), { what: 'echo and output' });
  t.ok(await processes.resize(handle, cat, { cols: 100, rows: 40 }));
  t.same(await write(cat, '', 8, true), { kind: 'taken', inputOffset: 8 });
  t.match(await ended(cat), { exitCode: 0 }, 'the end of the input ends it');
  t.notOk(await processes.resize(handle, cat, SIZE), 'it has ended');
  const plain = await start(['sleep', '3600']);
  t.notOk(await processes.resize(handle, plain, SIZE), 'it has no terminal');
  const asleep = await start(['sleep', '3600'], { terminal: SIZE });
  t.ok(await processes.signal(handle, asleep, 'INT'));
  t.match(await ended(asleep), { exitCode: 130 });
}

async function withoutTools(t: Test, processes: ContainerProcesses, handle: RuntimeHandle): Promise<void> {
  const request = aRequest(['true'], { terminal: SIZE });
  t.same(await processes.start(handle, randomUUID(), request), { kind: 'tool_missing', tool: 'perl' });
}

async function resumes(
  t: Test,
  { start, output, write, ended }: InsideOne,
  processes: ContainerProcesses,
  handle: RuntimeHandle,
): Promise<void> {
  const id = await start(['cat'], { takesInput: true });
  const text = Array.from({ length: 20_000 }, (_, at) => `line ${at}\n`).join('');
  await write(id, text.slice(0, 1000), 0);
  const now = async () => (await output(id, NOTHING, false))?.stdout.length;
  await waitFor(async () => (await now()) === 1000, { what: 'unfollowed, it ends with what there is' });
  const followed = await processes.output(handle, id, { stdout: 990, stderr: 0 }, true);
  const pieces = followed?.pieces[Symbol.asyncIterator]();
  t.match(await pieces?.next(), { value: { stream: 'stdout', offset: 990 } });
  await followed?.end();
  while (!(await pieces?.next())?.done);
  const rest = output(id, { stdout: 500, stderr: 0 });
  await write(id, text.slice(1000), 1000, true);
  t.ok((await rest)?.stdout.equals(Buffer.from(text.slice(500))), 'a reader that comes back');
  await ended(id);
  const after = { stdout: text.length - 7, stderr: 0 };
  t.equal(String((await output(id, after))?.stdout), text.slice(-7), 'after the end');
  t.match(await output(id, { stdout: text.length + 5, stderr: 0 }), { start: { stdout: text.length } });
}
