import type { Kysely } from 'kysely';
import type { Repositories, Storage } from '../../ports/repositories.ts';
import { postgresAudit } from './audit-log.ts';
import { postgresCatalogue } from './catalogue-repository.ts';
import { postgresContainers } from './container-repository.ts';
import { postgresEvents } from './event-log.ts';
import { postgresFactors } from './factor-repository.ts';
import { postgresInstallation } from './installation-repository.ts';
import { postgresOperations } from './operation-repository.ts';
import { postgresPasskeys } from './passkey-repository.ts';
import { postgresPending } from './pending-repository.ts';
import { postgresRecoveryCodes } from './recovery-code-repository.ts';
import { postgresRequestCounts } from './request-counts.ts';
import type { Database } from './schema.ts';
import { postgresScreenLocks } from './screen-lock-repository.ts';
import { postgresSessions } from './session-repository.ts';
import { postgresSettings } from './settings-repository.ts';
import { postgresSshKeys } from './ssh-key-repository.ts';
import { postgresTerminalRecords } from './terminal-records.ts';
import { postgresThrottle } from './throttle-repository.ts';
import { postgresTokens } from './token-repository.ts';
import { postgresUsers } from './user-repository.ts';

const repositoriesOn = (db: Kysely<Database>): Repositories => ({
  users: postgresUsers(db),
  sessions: postgresSessions(db),
  settings: postgresSettings(db),
  catalogue: postgresCatalogue(db),
  containers: postgresContainers(db),
  installation: postgresInstallation(db),
  audit: postgresAudit(db),
  operations: postgresOperations(db),
  events: postgresEvents(db),
  factors: postgresFactors(db),
  recoveryCodes: postgresRecoveryCodes(db),
  passkeys: postgresPasskeys(db),
  pending: postgresPending(db),
  screenLocks: postgresScreenLocks(db),
  throttle: postgresThrottle(db),
  tokens: postgresTokens(db),
  requestCounts: postgresRequestCounts(db),
  terminals: postgresTerminalRecords(db),
  sshKeys: postgresSshKeys(db),
});

/** All repositories on one database. */
export const postgresStorage = (db: Kysely<Database>): Storage => ({
  repositories: repositoriesOn(db),
  inTransaction: (work) => db.transaction().execute((trx) => work(repositoriesOn(trx))),
});
