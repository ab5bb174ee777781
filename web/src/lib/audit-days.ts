import { container, detailsOf, type Sentence, say } from '../../../src/client/audit/sentence.ts';
import { auditSentence } from '../../../src/client/audit/sentences.ts';
import type { AuditRecord } from '../api/types.ts';
import { onDay } from './format/format.ts';

/** One row: a record, or several that are quiet together; newest first. */
export type AuditEntry = {
  readonly records: readonly [AuditRecord, ...AuditRecord[]];
  readonly sentence: Sentence;
};

export type AuditDay = { readonly day: string; readonly entries: readonly AuditEntry[] };

/** Which neighbours fold: those of the same kind, actor, address and details. */
const KINDS: Readonly<Record<string, string>> = {
  terminal_opened: 'terminals',
  terminal_closed: 'terminals',
  login_failed: 'failures',
};

/** Records in their order, by day, with neighbours folded that say the same. */
export function auditDays(records: readonly AuditRecord[]): readonly AuditDay[] {
  const days: { day: string; groups: [AuditRecord, ...AuditRecord[]][] }[] = [];
  for (const record of records) {
    const day = onDay(record.created_at);
    let last = days.at(-1);
    if (last?.day !== day) {
      last = { day, groups: [] };
      days.push(last);
    }
    const group = last.groups.at(-1);
    if (group !== undefined && folds(group[0], record)) group.push(record);
    else last.groups.push([record]);
  }
  return days.map(({ day, groups }) => ({
    day,
    entries: groups.map((group) => ({ records: group, sentence: sentenceOf(group) })),
  }));
}

function folds(one: AuditRecord, other: AuditRecord): boolean {
  const kind = KINDS[one.action];
  return (
    kind !== undefined &&
    kind === KINDS[other.action] &&
    one.user_id === other.user_id &&
    one.ip_address === other.ip_address &&
    one.details === other.details
  );
}

function sentenceOf(group: readonly [AuditRecord, ...AuditRecord[]]): Sentence {
  const [first] = group;
  const sentence = auditSentence(first);
  if (group.length === 1) return sentence;
  if (first.action === 'login_failed') return [...sentence, `, ${group.length} times`];
  const opened = group.filter(({ action }) => action === 'terminal_opened').length;
  const where = container(detailsOf(first.details));
  return [terminals(opened, group.length - opened), ...say` of ${where}`];
}

function terminals(opened: number, closed: number): string {
  const count = (number: number) => (number === 1 ? 'a terminal' : `${number} terminals`);
  if (opened === closed) return `Opened and closed ${count(opened)}`;
  if (closed === 0) return `Opened ${count(opened)}`;
  return opened === 0 ? `Closed ${count(closed)}` : 'Opened and closed terminals';
}
