import { pollUntil } from '../../concurrency/poll.ts';
import { type Caller, credentialId, type RequestOrigin } from '../../domain/identity/caller.ts';
import { ok, refuse } from '../../domain/result.ts';
import { viewersOf } from '../../domain/terminals/terminal-client.ts';
import { isUuid } from '../../domain/uuid.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Storage } from '../../ports/storage.ts';
import type { ListedTerminal } from '../../ports/terminals/terminal-record-repository.ts';
import type { AsyncResult } from '../async-result.ts';
import { oncePer } from '../audit/audit-view-log.ts';
import { publishTerminalNotice } from './terminal-messages.ts';
import type { Terminals } from './terminals.ts';

const NOTE_EVERY_MS = 600_000;
/** How long the answer waits for the terminal's end. */
const GONE = { withinMs: 2_000, everyMs: 40 };

export type AdminTerminalDeps = {
  readonly storage: Storage;
  readonly terminals: Pick<Terminals, 'find'>;
  readonly bus: Bus;
  readonly monotonicMs: () => number;
};

/** `viewers`: how many other terminals show the same session. */
export type WatchedTerminal = ListedTerminal & { readonly viewers: number };

export type AdminTerminals = ReturnType<typeof adminTerminals>;

/** All users' terminals in all processes, for administrators: who, where and since when, never contents. */
export function adminTerminals({
  storage: { repositories, inTransaction },
  terminals,
  bus,
  monotonicMs,
}: AdminTerminalDeps) {
  const isNew = oncePer(NOTE_EVERY_MS, monotonicMs);
  const records = repositories.terminals;

  return {
    /** An administrator's view is recorded, once in a while per session or token. */
    async list({ user, credential }: Caller, origin: RequestOrigin): Promise<readonly WatchedTerminal[]> {
      if (isNew(credentialId(credential))) {
        const action = 'terminals_listed';
        await repositories.audit.append({ userId: user.id, action, ...origin, details: '' });
      }
      const listed = await records.list();
      const viewers = viewersOf(listed);
      return listed.map((record) => {
        const { cols, rows, lastPingAt } = terminals.find(record.id) ?? record;
        return { ...record, cols, rows, lastPingAt, viewers: viewers(record) };
      });
    },

    /** Closes one as `unauthorized`, in any process. */
    async close(given: string, { user }: Caller, origin: RequestOrigin): AsyncResult<null> {
      const id = given.toLowerCase();
      const found = isUuid(id) ? await records.find(id) : null;
      if (found === null) return refuse({ code: 'terminal_not_found' });
      await inTransaction(async (tx) => {
        if (!(await tx.terminalCloseRequests.insert(id))) return;
        const details = JSON.stringify({ id, user_id: found.userId, container_id: found.dbId });
        await tx.audit.append({ userId: user.id, action: 'terminal_closed', ...origin, details });
      });
      publishTerminalNotice(bus, { kind: 'close', id });
      await pollUntil(async () => (await records.find(id)) === null, GONE);
      return ok(null);
    },
  };
}
