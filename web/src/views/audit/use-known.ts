import { useEffect, useState } from 'preact/hooks';
import { detailsOf, type KnownNames, type Noun } from '../../../../src/client/audit/sentence.ts';
import { containersIn, namesIn } from '../../../../src/client/audit/sentences.ts';
import { containersWithIds } from '../../api/admin.ts';
import type { AuditOf } from '../../api/audit.ts';
import type { Page } from '../../api/calls.ts';
import { listContainers, listDeleted } from '../../api/containers/containers.ts';
import { listRecordings } from '../../api/terminals/recordings.ts';
import type { AuditRecord, Container, Recording } from '../../api/types.ts';
import { me } from '../../state/profile.ts';
import { useLoaded } from '../../ui/hooks/use-loaded.ts';

/** `linkOf`: where what a sentence names is shown; null where it is gone, or has no page. */
export type Known = { readonly names: KnownNames; readonly linkOf: (noun: Noun) => string | null };

type Containers = Readonly<Record<'own' | 'deleted' | 'others', readonly Container[]>>;

/**
 * The names in the records and of containers, deleted ones too; of others' containers for administrators. Null until the
 * lists of containers came or failed: before, sentences would show the start of ids. `records`: null before they came.
 */
export function useKnown(of: AuditOf, records: readonly AuditRecord[] | null): Known | null {
  const own = useLoaded(listContainers);
  const deleted = useLoaded(listDeleted);
  const recordings = useLoaded(of === 'own' ? ownRecordings : nothing).value ?? [];
  const others = useOthers(of === 'all' ? records : NONE);
  const isWaiting = [own, deleted].some(({ value, failure }) => value === null && failure === null);
  if (isWaiting || records === null || others === null) return null;
  const containers = { own: own.value ?? [], deleted: deleted.value ?? [], others };
  const gone = records.filter(({ action }) => action === 'user_deleted').map(deletedId);
  const linkOf = ({ kind, id }: Noun): string | null => {
    switch (kind) {
      case 'container':
      case 'machine':
        return linkOfContainer(id, containers);
      case 'user':
        return of === 'all' && !gone.includes(id) ? linkTo('/admin', { search: id }) : null;
      case 'recording':
        return recordings.includes(id) ? `/recordings/${encodeURIComponent(id)}` : null;
      case 'thing':
        return null;
    }
  };
  return { names: namesOf(records, containers), linkOf };
}

function namesOf(records: readonly AuditRecord[], { own, deleted, others }: Containers): KnownNames {
  const containers = [...others, ...deleted, ...own].map(({ db_id, name }) => [db_id, name] as const);
  const user = me.value === null ? [] : [[me.value.id, me.value.username] as const];
  return new Map([...namesIn(records), ...user, ...containers]);
}

function linkOfContainer(id: string, { own, deleted, others }: Containers): string | null {
  const isIt = ({ db_id }: Container): boolean => db_id === id;
  if (own.some(isIt)) return `/containers/${encodeURIComponent(id)}`;
  if (deleted.some(isIt)) return '/deleted';
  const found = others.find(isIt);
  if (found === undefined) return null;
  const { name: q, owner, deleted_at } = found;
  return linkTo('/admin/containers', { q, owner: owner.username, ...(deleted_at && { deleted: 'true' }) });
}

const linkTo = (path: string, query: Readonly<Record<string, string>>): string =>
  `${path}?${new URLSearchParams(query)}`;

const deletedId = ({ details }: AuditRecord): string => detailsOf(details)('id');
const nothing = async (): Promise<readonly string[]> => [];
const NONE: readonly AuditRecord[] = [];

/** The ids of the reader's recordings, up to some pages of them. */
async function ownRecordings(): Promise<readonly string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  for (let pages = 0; pages < 5; pages += 1) {
    const page: Page<Recording> = await listRecordings(cursor);
    ids.push(...page.items.map(({ id }) => id));
    cursor = page.next;
    if (cursor === null) break;
  }
  return ids;
}

/** Anybody's containers that the records name, as far as they exist or can be restored; null before the first answer. */
function useOthers(records: readonly AuditRecord[] | null): readonly Container[] | null {
  const [others, setOthers] = useState<readonly Container[] | null>(null);
  const ids = records === null ? null : containersIn(records);
  useEffect(() => {
    if (ids === null) return undefined;
    let isOld = false;
    const show = (found: readonly Container[]): void => {
      if (!isOld) setOthers(found);
    };
    // why: without the names, the sentences show the start of the ids
    containersWithIds(ids).then(show, () => show([]));
    return () => {
      isOld = true;
    };
  }, [ids?.join()]);
  return others;
}
