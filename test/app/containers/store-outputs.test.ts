import { randomUUID } from 'node:crypto';
import pino from 'pino';
import t from 'tap';
import { fixedClock, memoryStorage } from '../../../src/adapters/memory/index.ts';
import { storeBeforeStop, storeOutputs } from '../../../src/app/containers/processes/store-outputs.ts';
import type {
  OutputPiece,
  ProcessOutput,
} from '../../../src/ports/containers/processes/container-processes.ts';
import { storedContainer, storedUser } from '../../support/database/stored.ts';
import { waitFor } from '../../support/patience.ts';

const START = { stdout: 0, stderr: 0 };
const LIMIT_MS = 20;

/** A container with an ended process, of whose output each reading begins, and does not end before `leave`. */
async function aSilentContainer() {
  const storage = memoryStorage(fixedClock());
  const { processes, processOutputs } = storage.repositories;
  const seen = { opened: 0, ended: 0 };
  const left: (() => void)[] = [];
  async function* silent(): AsyncGenerator<OutputPiece> {
    yield { stream: 'stdout', offset: 0, data: Buffer.from('so far') };
    await new Promise<void>((resolve) => left.push(resolve));
  }
  async function* full(): AsyncGenerator<OutputPiece> {
    yield { stream: 'stdout', offset: 0, data: Buffer.from('done\n') };
  }
  const aContainer = async () => {
    const { id: userId } = await storedUser(storage);
    const container = await storedContainer(storage, userId);
    const { dbId, runtimeId } = container;
    const process = { id: randomUUID(), dbId, userId, runtimeId: runtimeId ?? '', name: 'web' };
    await processes.insert({ ...process, command: ['x'], takesInput: false, terminal: null });
    const state = { kind: 'ended', pid: 7, by: 'exit', exitCode: 0, endedAt: new Date() } as const;
    await processes.advance(process.id, 'starting', state);
    return { container, processId: process.id };
  };
  const hostile = await aContainer();
  const output = async (_handle: unknown, id: string): Promise<ProcessOutput> => {
    if (id !== hostile.processId) return { start: START, pieces: full(), end: async () => {} };
    seen.opened += 1;
    const end = async (): Promise<void> => {
      seen.ended += 1;
    };
    return { start: START, pieces: silent(), end };
  };
  const size = { firstKept: 0, bytes: 6 };
  const deps = {
    storage,
    log: pino({ level: 'silent' }),
    processes: { output, kept: async () => ({ stdout: size, stderr: size }) },
  };
  const leave = (): void => {
    for (const one of left) one();
  };
  const stored = async (id: string) => String((await processOutputs.find(id))?.stdout.data);
  return { ...hostile, deps, seen, aContainer, stored, leave };
}

t.test('a copy that takes too long is ended, and another one waits until it has', async (t) => {
  const { deps, seen, processId, aContainer, stored, leave } = await aSilentContainer();
  const other = await aContainer();
  const store = storeOutputs(deps, LIMIT_MS);
  await store();
  await waitFor(() => seen.ended === 1);
  t.equal(await stored(other.processId), 'done\n', 'of another owner');
  await store();
  t.equal(seen.opened, 1);
  leave();
  await waitFor(async () => {
    await store();
    return seen.opened === 2;
  });
  t.equal(await stored(processId), 'undefined', 'a part is not the whole');
});

t.test('a copy before a stop is ended when the stop does not wait for it', async (t) => {
  const { deps, seen, container, processId, stored, leave } = await aSilentContainer();
  await storeBeforeStop(deps, LIMIT_MS)(container);
  await waitFor(() => seen.ended === 1);
  leave();
  t.equal(await stored(processId), 'undefined');
});
