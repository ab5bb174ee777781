import { GENESIS, type SealedContent, sealed } from '../../domain/audit-chain.ts';
import type { AuditChain } from '../../ports/audit-chain.ts';
import type { MemoryState } from './memory-state.ts';

export const memoryAuditChain = (state: MemoryState): AuditChain => {
  const unsealed = () =>
    state.audit.filter(({ id }) => !state.auditChain.some((link) => link.recordId === id));
  return {
    async seal(atMost) {
      const due = unsealed().slice(0, atMost);
      for (const record of due) {
        const head = sealed(state.auditChain.at(-1) ?? GENESIS, contentOf(record));
        state.auditChain.push({ ...head, recordId: record.id });
      }
      return due.length;
    },

    links: async (behind, limit) =>
      state.auditChain
        .filter(({ seq }) => seq > behind)
        .slice(0, limit)
        .map((link) => {
          const record = state.audit.find(({ id }) => id === link.recordId);
          return { ...link, content: record === undefined ? null : contentOf(record) };
        }),

    async head() {
      const last = state.auditChain.at(-1);
      return last === undefined ? null : { seq: last.seq, hash: last.hash };
    },

    // Everything unsealed is waiting.
    stray: async () => null,
  };
};

const contentOf = ({ createdAt, ...entry }: MemoryState['audit'][number]): SealedContent => ({
  ...entry,
  createdAtMicros: `${createdAt.getTime()}000`,
});
