import t from 'tap';
import { memoryPorts } from '../../../src/adapters/memory/index.ts';
import { adminTerminals } from '../../../src/app/terminals/admin-terminals.ts';
import type { Caller } from '../../../src/domain/identity/caller.ts';
import { type Storage, StorageUnavailable } from '../../../src/ports/storage.ts';
import { recordOf, storedContainer, storedUser } from '../../support/database/stored.ts';

const ORIGIN = { ipAddress: '192.0.2.1', userAgent: '' };

t.test('an administrator closes no terminal without a record of it', async (t) => {
  const { storage, bus } = memoryPorts();
  const { terminals, terminalCloseRequests } = storage.repositories;
  const user = await storedUser(storage);
  const record = recordOf(user, await storedContainer(storage, user.id));
  await terminals.insert(record);
  const failing: Storage = {
    ...storage,
    inTransaction: (work) =>
      storage.inTransaction((tx) => {
        const append = async (): Promise<never> => {
          throw new StorageUnavailable('no answer');
        };
        return work({ ...tx, audit: { ...tx.audit, append } });
      }),
  };
  const find = (): null => null;
  const admin = adminTerminals({ storage: failing, terminals: { find }, bus, monotonicMs: () => 0 });
  const caller = { user, credential: { kind: 'session', id: 's' } } as unknown as Caller;
  await t.rejects(admin.close(record.id, caller, ORIGIN), { name: 'StorageUnavailable' });
  t.same(await terminalCloseRequests.listFor(record.replica), []);
});
