import { randomUUID } from 'node:crypto';
import t from 'tap';
import { fixedClock, memoryPorts } from '../../../../src/adapters/memory/index.ts';
import { terminalCleanup } from '../../../../src/app/terminals/cleanup/terminal-cleanup.ts';
import { terminalEnds } from '../../../../src/app/terminals/cleanup/terminal-ends.ts';
import { terminalLeases } from '../../../../src/app/terminals/cleanup/terminal-leases.ts';
import type { TerminalTarget } from '../../../../src/app/terminals/opening/locate-terminal.ts';
import type { TerminalGrant } from '../../../../src/app/terminals/opening/terminal-target.ts';
import type { TerminalStream } from '../../../../src/app/terminals/output/terminal-stream.ts';
import type { LiveTerminal } from '../../../../src/app/terminals/terminal-connections.ts';
import { publishTerminalNotice } from '../../../../src/app/terminals/terminal-messages.ts';
import { terminalEndRecords } from '../../../../src/app/terminals/terminal-records.ts';
import type { TerminalRegistry } from '../../../../src/app/terminals/terminal-registry.ts';
import { terminalSync } from '../../../../src/app/terminals/terminal-sync.ts';
import { CLOSE, type TerminalKey } from '../../../../src/domain/terminals/terminal.ts';
import type { Logger } from '../../../../src/ports/logger.ts';
import { type Storage, StorageUnavailable } from '../../../../src/ports/storage.ts';
import type { TerminalRecord } from '../../../../src/ports/terminals/terminal-record-repository.ts';
import { recordOf, storedContainer, storedUser } from '../../../support/database/stored.ts';
import { silentLog } from '../../../support/samples/samples.ts';

t.test('many simultaneous ends take few transactions, and a failed one is retried', async (t) => {
  const { storage } = memoryPorts(fixedClock());
  const { terminals, audit } = storage.repositories;
  const user = await storedUser(storage);
  const container = await storedContainer(storage, user.id);
  const records = Array.from({ length: 300 }, () => recordOf(user, container));
  for (const record of records) await terminals.insert(record);
  let transactions = 0;
  const failsFirst: Storage['inTransaction'] = async (work) => {
    transactions += 1;
    if (transactions === 1) throw new StorageUnavailable('no answer');
    return await storage.inTransaction(work);
  };
  const pauses: number[] = [];
  const pause = async (ms: number): Promise<void> => void pauses.push(ms);
  const recordEnd = terminalEndRecords({ inTransaction: failsFirst }, silentLog, pause);
  const grant = { container, access: null, origin: { ipAddress: '192.0.2.1', userAgent: '' } };
  const ends = records.map((record) =>
    recordEnd({ entry: record as unknown as LiveTerminal, grant: grant as unknown as TerminalGrant }),
  );
  await Promise.all(ends);
  t.same(pauses, [1_000]);
  t.same(await terminals.list(), []);
  const { items } = await audit.page({ action: 'terminal_closed' }, { limit: 500, after: null });
  t.match(
    items.map(({ userId, details }) => [userId, details]),
    records.map(() => [user.id, container.dbId]),
  );
  t.equal(items.length, records.length, 'each once');
  t.ok(transactions < 5);
});

const quiet: Logger = { ...console, info() {}, warn() {}, error() {} };
const dbId = randomUUID();

/** One container with a session `pane-a`. `attempts` are the calls to end it, the first of which fail. */
function aContainer({ failures = 0, detachFailures = 0 } = {}) {
  const attempts: string[] = [];
  let detaches = 0;
  let ended = false;
  const target = {
    dbId,
    runtimeId: 'r',
    muxSession: 'pane-a',
    isMain: false,
    async endSession(_name: string, isWanted: () => Promise<boolean>) {
      const wanted = await isWanted();
      attempts.push(wanted ? 'wanted' : 'end');
      if (wanted) return;
      if (attempts.length <= failures) throw new Error('sessions did not end in time');
      ended = true;
    },
  } as unknown as TerminalTarget;
  const stream = (id: string) =>
    ({
      id,
      muxSession: 'pane-a',
      async end() {
        detaches += 1;
        if (detaches <= detachFailures) throw new Error('the attachment goes on');
      },
    }) as unknown as TerminalStream;
  return { target, stream, attempts, isEnded: () => ended };
}

/** A process on the shared storage. `retries`: how often an end is retried. */
function aProcess(storage: ReturnType<typeof memoryPorts>['storage'], retries: number) {
  const me = { replica: randomUUID(), runId: randomUUID() };
  const repository = storage.repositories.terminalLeases;
  const leases = terminalLeases(repository, me, () => 0);
  const retryAfterMs = Array.from({ length: retries }, () => 1);
  const ending = terminalCleanup(leases, quiet, retryAfterMs);
  const unattended = () => repository.unattended({ ...me, streamIds: [...leases.streamIds()] }, 75);
  return { leases, ending, unattended };
}

const aStorage = () => memoryPorts(fixedClock()).storage;

t.test('a failed session end is retried, and then nothing stays on record', async (t) => {
  const storage = aStorage();
  const { target, stream, attempts, isEnded } = aContainer({ failures: 2 });
  const { leases, ending } = aProcess(storage, 2);
  const id = randomUUID();
  await leases.take(id, target);
  ending.end(target, stream(id), false);
  await ending.idle();
  t.ok(isEnded());
  t.same(attempts, ['end', 'end', 'end']);
  t.same(await storage.repositories.terminalLeases.inContainer(dbId), []);
});

for (const [what, fault] of [
  ['session', { failures: 9 }],
  ['attachment', { detachFailures: 9 }],
] as const) {
  t.test(`what is left of a ${what} that cannot be ended stays on record for the reaper`, async (t) => {
    const storage = aStorage();
    const { target, stream } = aContainer(fault);
    const { leases, ending, unattended } = aProcess(storage, 1);
    const id = randomUUID();
    await leases.take(id, target);
    t.same(await unattended(), [], 'not while this process has it');
    ending.end(target, stream(id), false);
    await ending.idle();
    t.match(await storage.repositories.terminalLeases.inContainer(dbId), [{ streamId: id }]);
    t.same(await unattended(), [dbId]);
  });
}

t.test('of two processes that show a session, the last to end it ends it, also at once', async (t) => {
  for (const both of [false, true]) {
    const storage = aStorage();
    const { target, stream, isEnded } = aContainer();
    const [first, second] = [aProcess(storage, 0), aProcess(storage, 0)];
    const ids = [randomUUID(), randomUUID()] as const;
    await first.leases.take(ids[0], target);
    await second.leases.take(ids[1], target);
    first.ending.end(target, stream(ids[0]), false);
    if (both) second.ending.end(target, stream(ids[1]), false);
    await Promise.all([first.ending.idle(), second.ending.idle()]);
    t.equal(isEnded(), both);
    const left = await storage.repositories.terminalLeases.inContainer(dbId);
    t.same(
      left.map(({ streamId }) => streamId),
      both ? [] : [ids[1]],
    );
  }
});

t.test('a stopping service waits for no further attempt', async (t) => {
  const storage = aStorage();
  const { target, stream, attempts } = aContainer({ failures: 9 });
  const { leases } = aProcess(storage, 0);
  const ending = terminalCleanup(leases, quiet, [3_600_000]);
  const id = randomUUID();
  await leases.take(id, target);
  ending.end(target, stream(id), false);
  while (attempts.length === 0) await new Promise((resolve) => setImmediate(resolve));
  ending.leaveWhatStays();
  await ending.idle();
  t.equal(attempts.length, 1);
});

/** The close reasons in a deleted container, while the engine says that it runs. */
function endsWhereDeleted() {
  const containerStatuses = async () => [
    { dbId, state: 'deleted' as const, runtimeId: 'r', operation: null },
  ];
  const observe = async () => ({ kind: 'running' as const, startedAt: new Date(0) });
  return terminalEnds({ records: { containerStatuses }, runtime: { observe } });
}

const OWN = { dbId, handle: { node: 'memory', runtimeId: 'r' }, participation: null };
const PART = {
  ...OWN,
  participation: { collaborationId: randomUUID(), userId: randomUUID(), mode: 'view' as const },
};

t.test("a delete ends the owner's terminals and the participants' share", async (t) => {
  const ends = endsWhereDeleted();
  for (const [target, reason] of [
    [OWN, CLOSE.containerDeleted],
    [PART, CLOSE.collaborationEnded],
  ] as const) {
    t.equal(await ends.afterEnd(target, { kind: 'lost' }, 5_000), reason);
    t.equal(await ends.afterFault(target, new Error('no such container')), reason);
  }
});

t.test('a terminal gives way only to what another process shows under its key later', async (t) => {
  const key = 'key' as TerminalKey;
  const [early, late] = [new Date(1_000), new Date(2_000)];
  type Newest = { readonly replica?: string; readonly createdAt: Date; readonly id: string };
  type Mine = { readonly recordedAt: Date | null; readonly id: string };
  /** A date: that of a client that was lost. */
  type Had = Mine | Date | null;
  const cases: readonly (readonly [what: string, newest: Newest, had: Had, isTaken: boolean])[] = [
    ['none that was on record', { createdAt: early, id: 'a' }, null, true],
    ['one later than a lost client', { createdAt: late, id: 'a' }, early, true],
    ['one earlier than a lost client', { createdAt: early, id: 'a' }, late, false],
    ['one of the same moment', { createdAt: early, id: 'a' }, early, true],
    ['a later one', { createdAt: late, id: 'a' }, { recordedAt: early, id: 'b' }, true],
    ['an earlier one', { createdAt: early, id: 'b' }, { recordedAt: late, id: 'a' }, false],
    ['the second of one moment', { createdAt: early, id: 'b' }, { recordedAt: early, id: 'a' }, true],
    ['the first of one moment', { createdAt: early, id: 'a' }, { recordedAt: early, id: 'b' }, false],
    ['one before its own is on record', { createdAt: late, id: 'b' }, { recordedAt: null, id: 'a' }, false],
    ['one of its own', { replica: 'here', createdAt: late, id: 'b' }, null, false],
  ];
  for (const [what, newest, had, isTaken] of cases) {
    const { bus, storage } = memoryPorts();
    const taken: TerminalKey[] = [];
    const asked = Promise.withResolvers<void>();
    const records = {
      ...storage.repositories.terminals,
      newest: async () => {
        asked.resolve();
        return [{ replica: 'there', key, ...newest } as unknown as TerminalRecord];
      },
    };
    const slots = {
      underKey: () => (had instanceof Date ? null : had),
      lostAt: () => (had instanceof Date ? had : null),
      has: () => true,
      taken: (one: TerminalKey) => void taken.push(one),
    };
    terminalSync({
      bus,
      records,
      closeRequests: storage.repositories.terminalCloseRequests,
      replica: 'here',
      registry: slots as unknown as TerminalRegistry,
      log: silentLog,
      monotonicMs: () => 0,
    });
    publishTerminalNotice(bus, { kind: 'taken', key, replica: 'there' });
    await asked.promise;
    await new Promise((resolve) => setImmediate(resolve));
    t.same(taken, isTaken ? [key] : [], what);
  }
});
