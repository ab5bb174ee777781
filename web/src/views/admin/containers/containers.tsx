import { useEffect, useRef, useState } from 'preact/hooks';
import type { AdminContainerQuery } from '../../../api/admin.ts';
import type { Container } from '../../../api/types.ts';
import { plural } from '../../../lib/format/format.ts';
import { followLabels } from '../../../state/catalogue-labels.ts';
import { Button } from '../../../ui/button.tsx';
import { LoadProblem } from '../../../ui/problem.tsx';
import { Section } from '../../../ui/section.tsx';
import { ListSkeleton } from '../../containers/list/container-list.tsx';
import { SortHead } from '../../containers/list/list-head.tsx';
import { ActDialog } from './act-dialog.tsx';
import { AllContainersList } from './all-containers-list.tsx';
import type { AdminContainerAct } from './container-row.tsx';
import { Filters } from './filters.tsx';
import { useAllContainers } from './use-all-containers.ts';

const PATH = '/admin/containers';

type Asked = { readonly act: AdminContainerAct; readonly container: Container };

const COLUMNS = [
  { field: 'name', label: 'Name', class: 'head-name' },
  { field: 'owner', label: 'Owner', class: 'head-owner' },
  { field: 'status', label: 'State', class: 'head-status' },
  { field: null, label: 'CPU', class: 'head-cpu' },
  { field: null, label: 'Memory', class: 'head-memory' },
  { field: '-disk', label: 'Space', class: 'head-space' },
  { field: '-last_used_at', label: 'Last used', class: 'head-when' },
] as const;

function firstQuery(): AdminContainerQuery {
  const given = new URLSearchParams(location.search);
  const of = (name: string): string => given.get(name) ?? '';
  return { q: of('q'), owner: of('owner'), status: '', deleted: of('deleted'), sort: 'owner' };
}

const isLimited = ({ q, owner, status }: AdminContainerQuery): boolean => q + owner + status !== '';

/** Everybody's containers: stopped, deleted, restored and given away here, and never opened. */
export function AllContainers() {
  const [query, setQuery] = useState(firstQuery);
  // A filter that is typed changes the query later, which then may be another.
  const newest = useRef(query);
  const [asked, setAsked] = useState<Asked | null>(null);
  const list = useAllContainers(query);
  useEffect(followLabels, []);
  const change = (filters: Partial<AdminContainerQuery>): void => {
    const next = { ...newest.current, ...filters };
    newest.current = next;
    setQuery(next);
    // why: a typed filter changes the query later, when the reader may already be at another page
    if (location.pathname !== PATH) return;
    const search = next.owner === '' ? '' : `?owner=${encodeURIComponent(next.owner)}`;
    history.replaceState(history.state, '', `${PATH}${search}`);
  };
  const { value, failure } = list;
  const onAct = (act: AdminContainerAct, container: Container): void => {
    if (act === 'only_owner') change({ owner: container.owner.username });
    else setAsked({ act, container });
  };
  return (
    <Section title="Containers" lead={leadOf(value?.total ?? null, query)}>
      <Filters query={query} onChange={change} />
      <LoadProblem of={list} />
      {value === null && failure === null && <ListSkeleton />}
      {value !== null && value.total === 0 && <Nothing query={query} onClear={() => change(ALL_OF_THEM)} />}
      {value !== null && value.total > 0 && (
        <div class="list of-all">
          <SortHead columns={COLUMNS} sort={query.sort} onSort={(sort) => change({ sort })} />
          <AllContainersList
            list={value}
            isFailed={failure !== null}
            onMore={() => void list.more()}
            onView={list.lookAt}
            onAct={onAct}
          />
        </div>
      )}
      {asked && (
        <ActDialog
          key={`${asked.act} ${asked.container.db_id}`}
          {...asked}
          onDone={() => void list.reload()}
          onClose={() => setAsked(null)}
        />
      )}
    </Section>
  );
}

const ALL_OF_THEM = { q: '', owner: '', status: '' };

function leadOf(total: number | null, query: AdminContainerQuery): string {
  const rights = 'You can stop, delete, restore and give them away. Their contents stay private.';
  if (total === null || total === 0) return `Everyone's containers. ${rights}`;
  const deleted = query.deleted === '' ? '' : ' deleted';
  const count = isLimited(query) ? `${total}${deleted} found` : plural(total, `${deleted} container`.trim());
  return `${count}. ${rights}`;
}

type NothingProps = { readonly query: AdminContainerQuery; readonly onClear: () => void };

function Nothing({ query, onClear }: NothingProps) {
  if (!isLimited(query))
    return <p class="none">{query.deleted === '' ? 'No containers.' : 'Nothing to restore.'}</p>;
  return (
    <div class="empty small">
      <p>No containers match.</p>
      <Button onClick={onClear}>Show all</Button>
    </div>
  );
}
