import type { TerminalCloseRequestRepository } from '../../../ports/terminals/terminal-close-request-repository.ts';
import type { Db } from '../schema/database-schema.ts';
import { allAs, changedOne } from '../sql.ts';

export const postgresTerminalCloseRequests = (db: Db): TerminalCloseRequestRepository => ({
  async insert(terminalId) {
    const update = db.updateTable('terminal_records').set({ closing: true });
    return await update.where('id', '=', terminalId).where('closing', '=', false).$call(changedOne);
  },

  async listFor(replica) {
    const query = db.selectFrom('terminal_records').select('id').where('replica', '=', replica);
    return await query.where('closing', '=', true).$call(allAs(({ id }) => id));
  },
});
