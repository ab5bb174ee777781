import { fixedClock, memoryStorage } from '../../src/adapters/memory/index.ts';
import { auditChainContract } from '../contract/audit-chain.ts';
import { auditLogContract } from '../contract/audit-log.ts';
import { carriedImagesContract } from '../contract/carried-images.ts';
import { catalogueRepositoryContract } from '../contract/catalogue-repository.ts';
import { collaborationRepositoryContract } from '../contract/collaboration-repository.ts';
import { containerRepositoryContract } from '../contract/container-repository.ts';
import { eventLogContract } from '../contract/event-log.ts';
import { installationRepositoryContract } from '../contract/installation-repository.ts';
import { recordingRepositoryContract } from '../contract/recording-repository.ts';
import { roleSetupRepositoryContract } from '../contract/role-setup-repository.ts';
import { sessionRepositoryContract } from '../contract/session-repository.ts';
import { settingsRepositoryContract } from '../contract/settings-repository.ts';
import { sshKeyRepositoryContract } from '../contract/ssh-key-repository.ts';
import { terminalHoldsContract } from '../contract/terminal-holds.ts';
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
await carriedImagesContract('memory', storage);
await roleSetupRepositoryContract('memory', storage, (seconds) => advance(seconds * 1000));
await auditLogContract('memory', storage);
await terminalRecordsContract('memory', storage, async (id, seconds) => {
  const { state } = storage;
  const lastPingAt = new Date(clock.now().getTime() - seconds * 1_000);
  state.terminals = state.terminals.map((one) => (one.id === id ? { ...one, lastPingAt } : one));
});
await terminalHoldsContract('memory', storage, async (run, seconds) => {
  storage.state.replicaRuns.set(run, new Date(clock.now().getTime() - seconds * 1_000));
});
await auditChainContract('memory', storage);
await sshKeyRepositoryContract('memory', storage);
await recordingRepositoryContract('memory', storage, advance);
await collaborationRepositoryContract('memory', storage, async (id) => {
  const { state } = storage;
  const expiresAt = clock.now();
  state.collaborations = state.collaborations.map((one) => (one.id === id ? { ...one, expiresAt } : one));
});
await eventLogContract('memory', storage, (hours) => advance(hours * 3_600_000), null);
