import { useState } from 'preact/hooks';
import {
  type AuditFilter,
  type AuditOf,
  type ExportFormat,
  exportAudit,
  listAudit,
} from '../../api/audit.ts';
import { saveFile } from '../../lib/browser/save-file.ts';
import { toastOutcome } from '../../state/toasts.ts';
import { Button } from '../../ui/button.tsx';
import { usePages } from '../../ui/hooks/use-pages.ts';
import { LoadProblem } from '../../ui/problem.tsx';
import { Loading, Section } from '../../ui/section.tsx';
import { Filters } from './filters.tsx';
import { Records } from './records.tsx';
import { useKnown } from './use-known.ts';

type AuditProps = { readonly of: AuditOf; readonly title: string; readonly lead: string };

/** Audit records, newest first, with filters and exports. */
export function Audit({ of, title, lead }: AuditProps) {
  const [filter, setFilter] = useState<AuditFilter>({});
  const list = usePages((cursor) => listAudit(of, filter, cursor), JSON.stringify(filter));
  const known = useKnown(of, list.value);
  const isLoading = list.value === null ? list.failure === null : list.value.length > 0 && known === null;
  return (
    <Section title={title} lead={lead} action={<Exports of={of} filter={filter} />}>
      <Filters of={of} onChange={setFilter} />
      <LoadProblem of={list} />
      {isLoading && <Loading />}
      {list.value?.length === 0 && <p class="none">No matching records.</p>}
      {list.value !== null && list.value.length > 0 && known !== null && (
        <Records of={of} records={list.value} known={known} busy={list.busy} />
      )}
      {!isLoading && list.more && (
        <div>
          <Button onClick={list.more} busy={list.busy ? 'Loading' : undefined}>
            Show older
          </Button>
        </div>
      )}
    </Section>
  );
}

function Exports({ of, filter }: { of: AuditOf; filter: AuditFilter }) {
  const [busy, setBusy] = useState<ExportFormat | null>(null);
  const save = async (format: ExportFormat): Promise<void> => {
    setBusy(format);
    const name = `audit.${format}`;
    const work = exportAudit(of, filter, format).then((file) => saveFile(file, name));
    await toastOutcome(work, `Saved as ${name}`);
    setBusy(null);
  };
  return (
    <div class="section-actions">
      {(['csv', 'ndjson'] as const).map((format) => (
        <Button
          key={format}
          icon="download"
          onClick={() => void save(format)}
          disabled={busy !== null}
          busy={busy === format ? 'Exporting' : undefined}
        >
          {format.toUpperCase()}
        </Button>
      ))}
    </div>
  );
}
