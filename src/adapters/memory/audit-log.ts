import { randomUUID } from 'node:crypto';
import type { AuditLog } from '../../ports/audit-log.ts';
import type { Clock } from '../../ports/clock.ts';
import type { MemoryState } from './memory-state.ts';
import { pageOf } from './pagination.ts';

export function memoryAudit(state: MemoryState, clock: Clock): AuditLog {
  const nameOf = (userId: string | null): string | null =>
    state.users.find(({ id }) => id === userId)?.username ?? null;

  return {
    append: async (...entries) => {
      for (const { id = randomUUID(), ...entry } of entries) {
        if (!state.audit.some((known) => known.id === id))
          state.audit.push({ ...entry, id, createdAt: clock.now() });
      }
    },

    async page({ userId, action, from, to }, request) {
      const matching = state.audit.filter(
        (record) =>
          (userId === undefined || record.userId === userId) &&
          (action === undefined || record.action === action) &&
          (from === undefined || record.createdAt >= from) &&
          (to === undefined || record.createdAt < to),
      );
      const { items, next } = pageOf(matching.reverse(), request);
      return { items: items.map((record) => ({ ...record, username: nameOf(record.userId) })), next };
    },
  };
}
