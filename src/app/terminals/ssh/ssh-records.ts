import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { credentialDetails } from '../../../domain/activity.ts';
import type { AuditEntry } from '../../../domain/audit.ts';
import type { Container } from '../../../domain/containers/container.ts';
import type { RequestOrigin } from '../../../domain/identity/caller.ts';
import type { Logger } from '../../../ports/logger.ts';
import type { Repositories } from '../../../ports/storage.ts';
import type { ActRecords } from '../../audit/activity-records.ts';
import type { Authenticated } from '../../identity/auth/verified-credential.ts';

/** A signed-in client. */
export type SshIdentity = {
  readonly signedIn: Authenticated;
  readonly origin: RequestOrigin;
  /** The container's name or id, as the client gave it. */
  readonly wanted: string;
};

export type SshRecordDeps = {
  readonly repositories: Repositories;
  readonly acts: Pick<ActRecords, 'record'>;
  readonly log: Logger;
};

type Details = Readonly<Record<string, string | number | null>>;

const AGAIN_MS = 1_000;

/** The audit records of SSH connections. */
export function sshRecords({ repositories, acts, log }: SshRecordDeps) {
  const unwritten = new Set<Promise<void>>();

  /** Tries until the database has it; the id makes a repeat harmless. */
  async function append(entry: AuditEntry): Promise<void> {
    for (;;) {
      try {
        return await repositories.audit.append(entry);
      } catch (err) {
        log.error({ err }, 'could not record the end of an SSH connection yet');
        await delay(AGAIN_MS, undefined, { ref: false });
      }
    }
  }

  return {
    /**
     * Records the connection. Without a container, records a refusal, at most once a minute, whether or not the
     * container exists.
     */
    async start(client: SshIdentity, container: Container | null): Promise<void> {
      const { signedIn, origin, wanted } = client;
      if (container !== null)
        return await repositories.audit.append({ ...entryOf(client, container), action: 'ssh_connected' });
      const act = { caller: signedIn.caller, origin, dbId: null, what: { wanted } };
      await acts.record({ action: 'ssh_refused', ...act });
    },

    /** Records the end in the background, until it succeeds. */
    end(client: SshIdentity, container: Container, facts: Details): void {
      const entry = { ...entryOf(client, container, facts), action: 'ssh_disconnected' } as const;
      const writing = append(entry).finally(() => unwritten.delete(writing));
      unwritten.add(writing);
    },

    /** Resolves when every end is on record. */
    written: async (): Promise<void> => void (await Promise.all(unwritten)),
  };
}

const entryOf = (
  { signedIn: { caller }, origin }: SshIdentity,
  { dbId }: Container,
  facts: Details = {},
) => ({
  id: randomUUID(),
  userId: caller.user.id,
  ...origin,
  details: JSON.stringify({ container_id: dbId, ...credentialDetails(caller.credential), ...facts }),
});
