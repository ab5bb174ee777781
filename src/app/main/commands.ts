import { createInterface } from 'node:readline/promises';
import { postgresAuditChain } from '../../adapters/postgres/audit-chain.ts';
import { openDatabase, openPool } from '../../adapters/postgres/connection/database.ts';
import { headText, parseHead } from '../../domain/audit-chain.ts';
import { type AuditVerdict, checkAudit } from '../audit/verify-audit.ts';
import type { Config } from './config.ts';
import { changeSwarm } from './database/change-swarm.ts';
import { missingDatabase, withDatabaseInUse } from './database/command-database.ts';
import { migrateAt } from './database/migrate-database.ts';
import type { Outcome } from './outcome.ts';
import { ROOT } from './process/root.ts';
import { uninstall } from './uninstall/uninstall.ts';

export type CommandOptions = {
  readonly head?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly 'forget-engine'?: readonly string[] | undefined;
  readonly 'old-swarm'?: readonly string[] | undefined;
  readonly id?: string | undefined;
};
type Command = (config: Config, options: CommandOptions) => Promise<Outcome>;

const EX_USAGE = 64;

/** The commands of `berth` other than serving. */
export const COMMANDS: Readonly<Record<string, Command>> = {
  'audit verify': verifyAudit,
  migrate: (config) => withDatabaseInUse(config, migrateNow),
  uninstall: (config, { yes = false, 'forget-engine': forgotten, 'old-swarm': oldSwarms }) =>
    uninstall(config, ROOT, async () => yes || (await isConfirmed()), { forgotten, oldSwarms }),
  'use-swarm': (config, { id }) => changeSwarm(config, id),
};

export const USAGE = `usage: berth audit verify [--head NUMBER:HASH]   checks that no record of the audit was changed
       berth migrate                              updates the database to the latest schema
       berth uninstall [--yes]                    removes everything of the service from this machine, for good
                       [--forget-engine ENGINE]   but nothing from an engine or a Swarm that is gone
                       [--old-swarm SWARM]        and from a Swarm that Berth has left
       berth use-swarm --id SWARM|none            switches to another Swarm, or to none, and leaves the current one's containers behind`;

/** Without a terminal nobody can confirm. */
async function isConfirmed(): Promise<boolean> {
  if (!process.stdin.isTTY) return false;
  const questions = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return (await questions.question('Type "remove" to continue: ')) === 'remove';
  } finally {
    questions.close();
  }
}

async function verifyAudit(config: Config, { head }: CommandOptions): Promise<Outcome> {
  const expected = head === undefined ? null : parseHead(head);
  if (head !== undefined && expected === null) {
    return { code: EX_USAGE, says: '--head must be NUMBER:HASH, as printed by an earlier check' };
  }
  const missing = missingDatabase(config);
  if (missing !== null) return missing;
  return await withDatabaseInUse(config, async (url) => {
    const db = openDatabase(openPool({ url, poolSize: 1, statementWithinMs: 0, answerWithinMs: 0 }));
    try {
      return outcomeOf(await checkAudit(postgresAuditChain(db), expected));
    } finally {
      await db.destroy();
    }
  });
}

function outcomeOf(verdict: AuditVerdict): Outcome {
  switch (verdict.kind) {
    case 'whole':
      return {
        code: 0,
        says: `the audit is intact: ${verdict.head.seq} records\nhead ${headText(verdict.head)}`,
      };
    case 'broken': {
      const { seq, recordId, why } = verdict.link;
      return { code: 1, says: `the audit is broken at ${seq}, record ${recordId}: ${why}` };
    }
    case 'stray':
      return {
        code: 1,
        says: `the audit is broken: record ${verdict.recordId} was added or removed without a seal`,
      };
    case 'other_head':
      return {
        code: 1,
        says: `the audit is broken: ${headText(verdict.expected)} is not in it, so its end was cut off or it was recreated`,
      };
  }
}

async function migrateNow(url: string): Promise<Outcome> {
  const applied = await migrateAt(url);
  return { code: 0, says: applied.length === 0 ? 'nothing to migrate' : `applied ${applied.join(', ')}` };
}
