import { computed, signal } from '@preact/signals';
import * as api from '../api/containers/containers.ts';
import { hasStatus } from '../api/errors.ts';
import type { Container } from '../api/types.ts';
import { isSettled } from '../lib/outcome.ts';
import { type ChangedContainer, watch } from './events.ts';
import { PartialList, type View } from './list/partial-list.ts';
import { rulesOf } from './list/rules.ts';
import type { Polling } from './poll.ts';

export type ListQuery = api.ContainerQuery;

export const OWN: ListQuery = { shared: 'false', q: '', status: '', sort: 'name' };
export const SHARED: ListQuery = { ...OWN, shared: 'true' };

const list = new PartialList<Container, ListQuery>({ readPage: api.pageOfContainers, rulesOf });
const wanted = signal<ListQuery>(OWN);

/** What the list is to answer, which may still be loading. */
export const wantedQuery = computed(() => wanted.value);
/** null while what is loaded is another list. */
const shown = computed(() =>
  list.loaded.value?.query.shared === wanted.value.shared ? list.loaded.value : null,
);
/** The loaded start of the list; null until it has come. */
export const containers = computed(() => shown.value?.items ?? null);
/** The number of containers that the query finds. */
export const totalFound = computed(() => shown.value?.total ?? 0);
/** Where the rest of the list begins; null at its end. */
export const nextCursor = computed(() => shown.value?.next ?? null);
/** What the list on screen answers. */
export const shownQuery = computed(() => shown.value?.query ?? wanted.value);
/** Why the list on screen may be old; null when it is not. */
export const listFailure = signal<unknown>(null);

const EVERY_MS = 4_000;
const WHILE_CHANGING_MS = 1_000;
/** More changed rows than these cost more than their page. */
const ROWS_AT_ONCE = 2;
const UNSETTLED_AT_ONCE = 10;
/** At least so often, the rows on screen are read again, whatever the events say. */
const VIEW_EVERY_MS = 60_000;

/** It may change without an event: the end of a share has none. */
const isUnsettled = ({ status, role_setup, collaboration }: Container): boolean =>
  !isSettled(status) || role_setup.status === 'installing' || collaboration !== undefined;

let view: View = [0, 0];
let viewReadMs = 0;
let unsettledReadMs = 0;
let isViewDue = true;
const changed = new Set<string>();

function viewIsOld(): void {
  list.markStale();
  isViewDue = true;
}

async function seen(dbId: string): Promise<Container | null> {
  try {
    return await api.getContainer(dbId);
  } catch (failure) {
    if (hasStatus(failure, 404)) return null;
    throw failure;
  }
}

const renew = (dbId: string): Promise<void> => list.renew(dbId, () => seen(dbId));

/** Reads rows that may change without an event and are not on the page on screen. */
async function renewUnsettled(): Promise<void> {
  if (performance.now() - unsettledReadMs < EVERY_MS) return;
  unsettledReadMs = performance.now();
  const rows = (containers.value ?? []).filter(isUnsettled);
  await Promise.all(list.oldest(rows, UNSETTLED_AT_ONCE).map(renew));
}

/** Reads the changed rows of a long list. False when their pages, or what is on screen, must be read as well. */
async function renewChanged(): Promise<boolean> {
  const ids = [...changed];
  changed.clear();
  if (ids.length > ROWS_AT_ONCE) {
    list.markStale();
    return false;
  }
  await Promise.all(ids.map(renew));
  return ids.length > 0 && !isViewDue && performance.now() - viewReadMs < VIEW_EVERY_MS;
}

async function readWanted(): Promise<void> {
  const query = wanted.value;
  const isLong = list.isLong(query);
  if (!isLong) changed.clear();
  else if (await renewChanged()) return;
  isViewDue = false;
  viewReadMs = performance.now();
  await list.refresh(query, view, () => query === wanted.value);
  if (query !== wanted.value) return await readWanted();
  if (isLong) await renewUnsettled();
}

async function readList(): Promise<void> {
  try {
    await readWanted();
    listFailure.value = null;
  } catch (failure) {
    viewIsOld();
    const isLoaded = list.loaded.value?.query === wanted.value;
    // why: the sign-in page says that the session ended, and a banner that the service is out of reach
    if (hasStatus(failure, 401) || (hasStatus(failure, 0) && isLoaded)) return;
    listFailure.value = failure;
  }
}

/** The number of pages that could not be loaded. A reading may end a failure before it is drawn. */
export const failedPages = signal(0);

/** Loads the next part of the list, if there is one. */
export const loadMore = (): Promise<void> =>
  list.readMore().catch((failure) => {
    failedPages.value += 1;
    listFailure.value = failure;
  });

let polling: Polling | null = null;

/** Names the first and the last row on screen: their pages are kept fresh. */
export function lookAt(first: number, last: number): void {
  view = [first, last];
  if (!list.isLong(wanted.value) || !list.isStaleIn(view)) return;
  isViewDue = true;
  polling?.soon();
}

function noteChange(event: ChangedContainer | null): void {
  if (event !== null) changed.add(event.dbId);
  // why: only a page says how many there are now
  if (event === null || !list.has(event.dbId)) viewIsOld();
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
    isSettled: () => !containers.value?.some(isUnsettled),
    settledMs: EVERY_MS,
    changingMs: WHILE_CHANGING_MS,
    noteChange,
  });
  polling = mine;
  return () => {
    mine.stop();
    if (polling === mine) polling = null;
  };
}

/** Reads the list again; of a long one the rows on screen, and that container. */
export async function refreshContainers(dbId?: string): Promise<void> {
  if (dbId === undefined) viewIsOld();
  else changed.add(dbId);
  await (polling === null ? readList() : polling.now());
}

/** Forgets the list of the user who was signed in. */
export function forgetList(): void {
  list.forget();
  wanted.value = OWN;
  listFailure.value = null;
}
