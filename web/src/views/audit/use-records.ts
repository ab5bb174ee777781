import { useEffect, useRef, useState } from 'preact/hooks';
import { type AuditFilter, type AuditOf, listAudit } from '../../api/audit.ts';
import type { AuditRecord } from '../../api/types.ts';

/** Records so far, newest first, and how to get older ones. Those of an earlier filter stay until the new ones are there. */
export function useRecords(of: AuditOf, filter: AuditFilter) {
  const [value, setValue] = useState<readonly AuditRecord[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const latest = useRef(0);

  const load = async (from: string | null): Promise<void> => {
    latest.current += 1;
    const turn = latest.current;
    setBusy(true);
    try {
      const page = await listAudit(of, filter, from);
      if (turn !== latest.current) return;
      setValue((before) => [...(from === null ? [] : (before ?? [])), ...page.records]);
      setCursor(page.next_cursor);
      setFailure(null);
    } catch (reason) {
      if (turn === latest.current) setFailure(reason);
    }
    if (turn === latest.current) setBusy(false);
  };
  useEffect(() => void load(null), [JSON.stringify(filter)]);
  return {
    value,
    failure,
    busy,
    reload: () => load(null),
    older: cursor === null ? null : () => void load(cursor),
  };
}
