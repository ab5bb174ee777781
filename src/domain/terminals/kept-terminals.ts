/** What the terminals of a user's lost clients may use of a process. */
const MAX_KEPT = { terminals: 256, bytes: 134_217_728 };

/** `bytes`: its output, which is kept for the client. */
export type KeptTerminal = { readonly userId: string; readonly untilMs: number; readonly bytes: number };

/** The terminals above each user's limits: those that would end first. */
export function tooManyKept<T extends KeptTerminal>(all: readonly T[], most = MAX_KEPT): readonly T[] {
  const used = new Map<string, { terminals: number; bytes: number }>();
  return all
    .toSorted((a, b) => b.untilMs - a.untilMs)
    .filter(({ userId, bytes }) => {
      const before = used.get(userId) ?? { terminals: 0, bytes: 0 };
      const now = { terminals: before.terminals + 1, bytes: before.bytes + bytes };
      used.set(userId, now);
      return now.terminals > most.terminals || now.bytes > most.bytes;
    });
}
