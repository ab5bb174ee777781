import { computed, signal } from '@preact/signals';
import * as api from '../api/containers/containers.ts';
import { hasStatus } from '../api/errors.ts';
import type { Container } from '../api/types.ts';
import { isSettled } from '../lib/outcome.ts';
import { type ChangedContainer, watch } from './events.ts';
import type { Polling } from './poll.ts';

export type ListQuery = api.ContainerQuery;

export const OWN: ListQuery = { shared: 'false', q: '', status: '', sort: 'name' };
export const SHARED: ListQuery = { ...OWN, shared: 'true' };

/** What of it is loaded, from its start. */
type Loaded = {
  readonly query: ListQuery;
  readonly items: readonly Container[];
  /** Where the rest begins; null at the end. */
  readonly next: string | null;
  readonly total: number;
};

const loaded = signal<Loaded | null>(null);
const wanted = signal<ListQuery>(OWN);

/** What the list is to answer, which may still be loading. */
export const wantedQuery = computed(() => wanted.value);
/** null while what is loaded is another list. */
const shown = computed(() => (loaded.value?.query.shared === wanted.value.shared ? loaded.value : null));
/** The loaded start of the list; null until it has come. */
export const containers = computed(() => shown.value?.items ?? null);
/** The number of containers that the query finds. */
export const totalFound = computed(() => shown.value?.total ?? 0);
/** What the list on screen answers. */
export const shownQuery = computed(() => shown.value?.query ?? wanted.value);
/** Why the list on screen may be old; null when it is not. */
export const listFailure = signal<unknown>(null);

const EVERY_MS = 4_000;
const WHILE_CHANGING_MS = 1_000;
/** A longer list is not read again as a whole for one change. */
const READ_WHOLE = 400;

const isChanging = (): boolean =>
  containers.value?.some(
    ({ status, role_setup }) => !isSettled(status) || role_setup.status === 'installing',
  ) ?? false;

/** The end of a share has no event. */
const isAnyShared = (): boolean =>
  containers.value?.some(({ collaboration }) => collaboration !== undefined) ?? false;

/** In an order by use, a container may have moved to a later page between two readings. */
const eachOnce = (items: readonly Container[]): readonly Container[] => [
  ...new Map(items.map((one) => [one.db_id, one])).values(),
];

/** Reads from the start, at least as much as is loaded. */
async function readFromStart(query: ListQuery): Promise<Loaded> {
  const least = loaded.value?.query === query ? loaded.value.items.length : 0;
  let page = await api.pageOfContainers(query, null);
  const items = [...page.items];
  while (page.next !== null && items.length < least) {
    page = await api.pageOfContainers(query, page.next);
    items.push(...page.items);
  }
  return { query, items: eachOnce(items), next: page.next, total: page.total };
}

async function readList(): Promise<void> {
  const query = wanted.value;
  try {
    const now = await readFromStart(query);
    if (query !== wanted.value) return await readList();
    if (JSON.stringify(now) !== JSON.stringify(loaded.value)) loaded.value = now;
    listFailure.value = null;
  } catch (failure) {
    const isLoaded = loaded.value?.query === query;
    // why: the sign-in page says that the session ended, and a banner that the service is out of reach
    if (hasStatus(failure, 401) || (hasStatus(failure, 0) && isLoaded)) return;
    listFailure.value = failure;
  }
}

let loading: Promise<void> | null = null;

async function readMore(): Promise<void> {
  const before = loaded.value;
  if (before === null || before.next === null) return;
  try {
    const { items, next, total } = await api.pageOfContainers(before.query, before.next);
    // why: another reading was faster, and has what this one continues
    if (loaded.value === before)
      loaded.value = { ...before, items: eachOnce([...before.items, ...items]), next, total };
  } catch (failure) {
    listFailure.value = failure;
  }
}

/** Loads the next part of the list, if there is one. */
export function loadMore(): Promise<void> {
  loading ??= readMore().finally(() => {
    loading = null;
  });
  return loading;
}

/** Renews one container of a long list. False where only a new reading shows the change. */
async function renew(dbId: string): Promise<boolean> {
  const before = loaded.value;
  if (!before?.items.some(({ db_id }) => db_id === dbId)) return false;
  const now = await api.getContainer(dbId).catch(() => null);
  if (now === null || loaded.value === null) return false;
  const items = loaded.value.items.map((one) => (one.db_id === dbId ? now : one));
  loaded.value = { ...loaded.value, items };
  return true;
}

let polling: Polling | null = null;

function onChanged({ dbId }: ChangedContainer): boolean {
  if ((loaded.value?.items.length ?? 0) <= READ_WHOLE) return true;
  void renew(dbId).then((isDone) => {
    if (!isDone) void polling?.now();
  });
  return false;
}

/** Shows the containers that the query finds. The old ones stay until the new ones have come. */
export function showContainers(query: ListQuery): void {
  if (JSON.stringify(query) === JSON.stringify(wanted.value)) return;
  wanted.value = query;
  void refreshContainers();
}

export const changeQuery = (change: Partial<ListQuery>): void =>
  showContainers({ ...wanted.value, ...change });

/** Keeps the list fresh until the returned function is called. */
export function followContainers(): () => void {
  const mine = watch({
    refresh: readList,
    isSettled: () => !isChanging() && !isAnyShared(),
    settledMs: EVERY_MS,
    changingMs: WHILE_CHANGING_MS,
    concerns: onChanged,
  });
  polling = mine;
  return () => {
    mine.stop();
    if (polling === mine) polling = null;
  };
}

export const refreshContainers = async (): Promise<void> =>
  polling === null ? await readList() : await polling.now();

/** Forgets the list of the user who was signed in. */
export function forgetList(): void {
  loaded.value = null;
  wanted.value = OWN;
  listFailure.value = null;
}
