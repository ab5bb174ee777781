import { type Caller, credentialId, type Origin } from '../domain/caller.ts';
import type { DomainError } from '../domain/errors.ts';
import { ok, type Result, refuse } from '../domain/result.ts';
import { CLOSE } from '../domain/terminal.ts';
import type { Clock } from '../ports/clock.ts';
import type { Storage } from '../ports/repositories.ts';
import type { LiveTerminal } from './live-terminals.ts';
import { seldom } from './seldom.ts';
import type { Terminals } from './terminals.ts';

const NOTE_EVERY_MS = 600_000;

export type AdminTerminalDeps = {
  readonly storage: Storage;
  readonly terminals: Pick<Terminals, 'list' | 'find'>;
  readonly clock: Clock;
};

export type AdminTerminals = ReturnType<typeof adminTerminals>;

/** Everybody's terminals, for administrators: who, where and since when, never what is in them. */
export function adminTerminals({ storage: { repositories }, terminals, clock }: AdminTerminalDeps) {
  const isNew = seldom(NOTE_EVERY_MS, () => clock.now().getTime());

  return {
    /** That an administrator looked is recorded, once in a while for each session or token. */
    async list({ user, credential }: Caller, origin: Origin): Promise<readonly LiveTerminal[]> {
      if (isNew(credentialId(credential))) {
        const action = 'terminals_listed';
        await repositories.audit.append({ userId: user.id, action, ...origin, details: '' });
      }
      return terminals.list();
    },

    /** Closes one with 4001. */
    async close(id: string, { user }: Caller, origin: Origin): Promise<Result<null, DomainError>> {
      const found = terminals.find(id.toLowerCase());
      if (found === null) return refuse({ code: 'terminal_not_found' });
      const details = JSON.stringify({
        id: found.id,
        user_id: found.userId,
        container_id: found.containerId,
      });
      await repositories.audit.append({ userId: user.id, action: 'terminal_closed', ...origin, details });
      found.connection.close(CLOSE.unauthorized);
      return ok(null);
    },
  };
}
