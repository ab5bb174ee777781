import { randomUUID } from 'node:crypto';
import { type Act, actDetails } from '../../domain/activity.ts';
import type { AuditEntry } from '../../domain/audit.ts';
import { credentialId } from '../../domain/identity/caller.ts';
import type { AuditLog } from '../../ports/audit-log.ts';

/** Equal acts within this time share one record. */
export const FOLDED_FOR_MS = 60_000;
/** Kinds of acts distinguished per user in that time; further ones are merged by action alone. */
export const KINDS_PER_USER = 60;

/** Equal acts: the last one, and the number not yet recorded. */
type Fold = {
  last: Act;
  unwritten: number;
  endsMs: number;
  /** Written without an answer: the same entry is written again. */
  entry: AuditEntry | null;
};

export type ActRecords = ReturnType<typeof actRecords>;

export type ActRecordsDeps = {
  readonly audit: Pick<AuditLog, 'append'>;
  readonly monotonicMs: () => number;
};

/** The folds by their keys, ordered by the end of their minute. */
function openFolds() {
  const folds = new Map<string, Fold>();
  const kindsOf = new Map<string, number>();
  return {
    find: (key: string): Fold | undefined => folds.get(key),

    keyOf({ action, caller: { user, credential }, dbId }: Act): string {
      const key = `${action} ${credentialId(credential)} ${dbId ?? ''}`;
      if (folds.has(key) || (kindsOf.get(user.id) ?? 0) < KINDS_PER_USER) return key;
      return `${action} ${user.id}`;
    },

    add(key: string, fold: Fold): void {
      const { user } = fold.last.caller;
      folds.set(key, fold);
      kindsOf.set(user.id, (kindsOf.get(user.id) ?? 0) + 1);
    },

    drop(key: string, { last: { caller } }: Fold): void {
      folds.delete(key);
      const left = (kindsOf.get(caller.user.id) ?? 1) - 1;
      if (left > 0) kindsOf.set(caller.user.id, left);
      else kindsOf.delete(caller.user.id);
    },

    /** Begins the fold's next minute, which ends after those of the others. */
    renew(key: string, fold: Fold, nowMs: number): void {
      folds.delete(key);
      folds.set(key, Object.assign(fold, { endsMs: nowMs + FOLDED_FOR_MS }));
    },

    endedBy(nowMs: number): readonly (readonly [key: string, fold: Fold])[] {
      const due: [string, Fold][] = [];
      for (const [key, fold] of folds) {
        if (fold.endsMs > nowMs) break;
        due.push([key, fold]);
      }
      return due;
    },
  };
}

/**
 * Records acts that change no row, so that their volume cannot fill the audit: the first of a credential, container and
 * action before it happens, those of the next minute in one record at its end.
 */
export function actRecords({ audit, monotonicMs }: ActRecordsDeps) {
  const folds = openFolds();
  let last: Promise<void> = Promise.resolve();

  async function writeDue(all: boolean): Promise<void> {
    const due = folds.endedBy(all ? Number.POSITIVE_INFINITY : monotonicMs());
    const entries = due.map(([, fold]) => taken(fold)).filter((entry) => entry !== null);
    await audit.append(...entries);
    for (const [key, fold] of due) {
      const isOver = fold.entry === null && fold.unwritten === 0;
      fold.entry = null;
      if (isOver) folds.drop(key, fold);
      else folds.renew(key, fold, monotonicMs());
    }
  }

  const flush = (all: boolean): Promise<void> => {
    last = last.then(
      () => writeDue(all),
      () => writeDue(all),
    );
    return last;
  };

  return {
    /** Resolves when the act is on record, or will be within a minute. */
    async record(act: Act): Promise<void> {
      const key = folds.keyOf(act);
      const fold = folds.find(key);
      if (fold !== undefined) {
        fold.unwritten += 1;
        fold.last = act;
        return;
      }
      const made: Fold = { last: act, unwritten: 0, endsMs: monotonicMs() + FOLDED_FOR_MS, entry: null };
      folds.add(key, made);
      try {
        await audit.append(entryOf(act, 1));
      } catch (error) {
        if (made.unwritten === 0 && folds.find(key) === made) folds.drop(key, made);
        throw error;
      }
    },

    /** Writes due records; for a timer. */
    flush: (): Promise<void> => flush(false),
    /** Writes all records; for shutdown. */
    flushAll: (): Promise<void> => flush(true),
  };
}

/** The record of all unrecorded acts; null when there are none. */
function taken(fold: Fold): AuditEntry | null {
  if (fold.entry === null && fold.unwritten > 0) {
    fold.entry = { id: randomUUID(), ...entryOf(fold.last, fold.unwritten) };
    fold.unwritten = 0;
  }
  return fold.entry;
}

const entryOf = (act: Act, times: number): AuditEntry => ({
  userId: act.caller.user.id,
  action: act.action,
  ...act.origin,
  details: actDetails(act, times),
});
