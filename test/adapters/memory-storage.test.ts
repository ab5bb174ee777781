import { fixedClock, memoryStorage } from '../../src/adapters/memory/index.ts';
import { auditLogContract } from '../contract/audit-log.ts';
import { catalogueRepositoryContract } from '../contract/catalogue-repository.ts';
import { containerRepositoryContract } from '../contract/container-repository.ts';
import { installationRepositoryContract } from '../contract/installation-repository.ts';
import { sessionRepositoryContract } from '../contract/session-repository.ts';
import { settingsRepositoryContract } from '../contract/settings-repository.ts';
import { sshKeyRepositoryContract } from '../contract/ssh-key-repository.ts';
import { terminalRecordsContract } from '../contract/terminal-records.ts';
import { userRepositoryContract } from '../contract/user-repository.ts';

const clock = fixedClock();
const storage = memoryStorage(clock);
const advance = async (ms: number): Promise<void> => clock.advance(ms);

await installationRepositoryContract('memory', storage);
await settingsRepositoryContract('memory', storage);
await catalogueRepositoryContract('memory', storage);
await userRepositoryContract('memory', storage);
await sessionRepositoryContract('memory', storage, async (id, times) => {
  const { state } = storage;
  state.sessions = state.sessions.map((one) => (one.id === id ? { ...one, ...times } : one));
});
await containerRepositoryContract('memory', storage);
await auditLogContract('memory', storage);
await terminalRecordsContract('memory', storage, advance);
await sshKeyRepositoryContract('memory', storage);
