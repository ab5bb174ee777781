import type { Kysely } from 'kysely';
import type { Repositories, Storage } from '../../ports/repositories.ts';
import { postgresAuditChain } from './audit-chain.ts';
import { postgresAudit } from './audit-log.ts';
import { postgresCarriedImages } from './carried-images.ts';
import { postgresCatalogue } from './catalogue-repository.ts';
import { postgresCollaborations } from './collaboration-repository.ts';
import { postgresContainers } from './container-repository.ts';
import { postgresEvents } from './event-log.ts';
import { postgresFactors } from './factor-repository.ts';
import { postgresHistory } from './history.ts';
import { postgresIdempotencyKeys } from './idempotency-keys.ts';
import { postgresInstallation } from './installation-repository.ts';
import { postgresOperations } from './operation-repository.ts';
import { postgresPasskeys } from './passkey-repository.ts';
import { postgresPending } from './pending-repository.ts';
import { postgresRecordings } from './recording-repository.ts';
import { postgresRecoveryCodes } from './recovery-code-repository.ts';
import { postgresRequestCounts } from './request-counts.ts';
import { postgresRoleSetups } from './role-setup-repository.ts';
import type { Database } from './schema.ts';
import { postgresScreenLocks } from './screen-lock-repository.ts';
import { postgresSessions } from './session-repository.ts';
import { postgresSettings } from './settings-repository.ts';
import { postgresSshKeys } from './ssh-key-repository.ts';
import { postgresTerminalHolds } from './terminal-holds.ts';
import { postgresTerminalRecords } from './terminal-records.ts';
import { postgresThrottle } from './throttle-repository.ts';
import { postgresTokens } from './token-repository.ts';
import { postgresUsers } from './user-repository.ts';
import { postgresVolumeRetention } from './volume-retention.ts';

import { postgresWarmPool } from './warm-pool-repository.ts';

const repositoriesOn = (db: Kysely<Database>): Repositories => ({
  users: postgresUsers(db),
  sessions: postgresSessions(db),
  settings: postgresSettings(db),
  catalogue: postgresCatalogue(db),
  containers: postgresContainers(db),
  carried: postgresCarriedImages(db),
  retention: postgresVolumeRetention(db),
  history: postgresHistory(db),
  idempotencyKeys: postgresIdempotencyKeys(db),
  installation: postgresInstallation(db),
  audit: postgresAudit(db),
  auditChain: postgresAuditChain(db),
  operations: postgresOperations(db),
  warmPool: postgresWarmPool(db),
  events: postgresEvents(db),
  roleSetups: postgresRoleSetups(db),
  factors: postgresFactors(db),
  recoveryCodes: postgresRecoveryCodes(db),
  passkeys: postgresPasskeys(db),
  pending: postgresPending(db),
  screenLocks: postgresScreenLocks(db),
  throttle: postgresThrottle(db),
  tokens: postgresTokens(db),
  requestCounts: postgresRequestCounts(db),
  terminals: postgresTerminalRecords(db),
  recordings: postgresRecordings(db),
  terminalHolds: postgresTerminalHolds(db),
  sshKeys: postgresSshKeys(db),
  collaborations: postgresCollaborations(db),
});

/** All repositories on one database. */
export const postgresStorage = (db: Kysely<Database>): Storage => ({
  repositories: repositoriesOn(db),
  inTransaction: (work) => db.transaction().execute((trx) => work(repositoriesOn(trx))),
});
