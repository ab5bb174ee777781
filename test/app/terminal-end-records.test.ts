import t from 'tap';
import { fixedClock, memoryPorts } from '../../src/adapters/memory/index.ts';
import type { LiveTerminal } from '../../src/app/live-terminals.ts';
import { terminalEndRecords } from '../../src/app/terminal-end-records.ts';
import type { TerminalGrant } from '../../src/app/terminal-grant.ts';
import { type Storage, StorageUnavailable } from '../../src/ports/repositories.ts';
import { silentLog } from '../support/engine.ts';
import { storedContainer, storedUser } from '../support/stored.ts';
import { recordOf } from '../support/terminal-record.ts';

t.test('many ends of one moment are few transactions, and one that fails is tried again', async (t) => {
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
