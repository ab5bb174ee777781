import type { Blocked, OpenedStorage } from '../support/database/stored.ts';
import { auditChainContract, auditLogContract } from './audit.ts';
import { administeredContainerContract } from './containers/administration/administered-containers.ts';
import { agentRepositoryContract } from './containers/agents.ts';
import { capacityRepositoryContract } from './containers/capacity/capacity.ts';
import { catalogueRepositoryContract } from './containers/catalogue.ts';
import { commandRunRepositoryContract } from './containers/command-runs.ts';
import { containerRepositoryContract } from './containers/containers.ts';
import { lifetimeRepositoryContract } from './containers/lifetime/lifetimes.ts';
import { operationRepositoryContract } from './containers/operations.ts';
import { processOutputRepositoryContract } from './containers/processes/process-output-repository.ts';
import { processRepositoryContract } from './containers/processes/process-repository.ts';
import { deletedContainerRepositoryContract } from './containers/retention/deleted-containers.ts';
import {
  type Age,
  type AgeAll,
  historyContract,
  volumeRetentionContract,
} from './containers/retention/retention.ts';
import { roleSetupRepositoryContract } from './containers/role-setups.ts';
import { snapshotRepositoryContract } from './containers/snapshots/snapshots.ts';
import { warmPoolRepositoryContract } from './containers/warm-pool.ts';
import { eventLogContract } from './events.ts';
import {
  settingsRepositoryContract,
  sshKeyRepositoryContract,
  userRepositoryContract,
} from './identity/accounts.ts';
import { deviceSignInContract } from './identity/device-sign-ins.ts';
import { openIdContract } from './identity/openid.ts';
import { peopleContract } from './identity/people.ts';
import { type Backdate, screenLockContract, sessionRepositoryContract } from './identity/sessions.ts';
import { signInContract } from './identity/sign-in.ts';
import { requestCountsContract, tokenRepositoryContract } from './identity/tokens.ts';
import { announcementRepositoryContract } from './service/announcements.ts';
import { healthRepositoryContract } from './service/health.ts';
import { installationRepositoryContract } from './service/installation.ts';
import { collaborationContract } from './terminals/collaborations.ts';
import { recordingRepositoryContract } from './terminals/recordings.ts';
import { terminalLeasesContract, terminalRecordsContract } from './terminals/terminals-noted.ts';

/** Tables whose rows age at once. */
export type Ageing =
  | 'operations'
  | 'containers'
  | 'warm_pool'
  | 'recordings'
  | 'api_tokens'
  | 'events'
  | 'agents'
  | 'agent_enrolments'
  | 'snapshots'
  | 'replica_reports'
  | 'command_runs';

/** How time passes for a storage: by its clock, or by moving stored times into the past. */
export type Times = {
  /** Ages the rows of a table by this many seconds. */
  readonly pass: (table: Ageing, seconds: number) => Promise<unknown>;
  /** Its clock. */
  readonly now: () => Promise<Date>;
  readonly backdateSession: Backdate;
  /** Ages a terminal, or a process's run, as if silent for this long. */
  readonly silenceTerminal: (id: string, seconds: number) => Promise<void>;
  readonly silenceRun: (run: string, seconds: number) => Promise<void>;
  readonly endTimeOfShare: (id: string) => Promise<void>;
  readonly ageVolume: Age;
  readonly ageAll: AgeAll;
};

/** Guarantees of every storage. Needs an empty one. */
export async function storageContracts(name: string, storage: OpenedStorage, times: Times): Promise<void> {
  const blocked: Blocked | null = storage.blocked ?? null;
  const passing = (table: Ageing) => async (seconds: number) => void (await times.pass(table, seconds));
  const passingMs = (table: Ageing) => async (ms: number) => void (await times.pass(table, ms / 1_000));
  await installationRepositoryContract(name, storage);
  await settingsRepositoryContract(name, storage);
  await announcementRepositoryContract(name, storage);
  await healthRepositoryContract(name, storage, passing('replica_reports'));
  await catalogueRepositoryContract(name, storage);
  await userRepositoryContract(name, storage);
  await sessionRepositoryContract(name, storage, times.backdateSession);
  screenLockContract(name, storage);
  signInContract(name, storage);
  openIdContract(name, storage);
  deviceSignInContract(name, storage);
  peopleContract(name, storage);
  await sshKeyRepositoryContract(name, storage);
  await tokenRepositoryContract(name, storage, passingMs('api_tokens'));
  await requestCountsContract(name, storage.repositories.requestCounts);
  await containerRepositoryContract(name, storage);
  await administeredContainerContract(name, storage);
  await agentRepositoryContract(name, storage, times.pass);
  await deletedContainerRepositoryContract(name, storage);
  await operationRepositoryContract(name, storage, passing('operations'));
  await lifetimeRepositoryContract(name, storage);
  await processRepositoryContract(name, storage, times.now);
  await processOutputRepositoryContract(name, storage);
  await commandRunRepositoryContract(name, storage, passing('command_runs'));
  await snapshotRepositoryContract(name, storage, passing('snapshots'));
  await roleSetupRepositoryContract(name, storage, passing('containers'));
  await warmPoolRepositoryContract(name, storage, passing('warm_pool'));
  await capacityRepositoryContract(name, storage);
  await auditLogContract(name, storage);
  await auditChainContract(name, storage);
  await terminalRecordsContract(name, storage, times.silenceTerminal);
  await terminalLeasesContract(name, storage, times.silenceRun);
  await recordingRepositoryContract(name, storage, passingMs('recordings'));
  await collaborationContract(name, storage, times.endTimeOfShare);
  await eventLogContract(name, storage, (hours) => passing('events')(hours * 3_600), blocked);
  await volumeRetentionContract(name, storage, times.ageVolume);
  await historyContract(name, storage, times.ageAll);
}
