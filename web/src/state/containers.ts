import { signal } from '@preact/signals';
import * as api from '../api/containers.ts';
import { ApiError } from '../api/errors.ts';
import type { Container } from '../api/types.ts';
import { watch } from './events.ts';
import type { Polling } from './polling.ts';
import { toastFailure, toastOk, toastWarning } from './toasts.ts';

/** null until the first list has come. */
export const containers = signal<readonly Container[] | null>(null);
/** Why the list on screen may be old; null when it is not. */
export const listFailure = signal<unknown>(null);

export type Change = 'starting' | 'stopping' | 'deleting';
/** Changes that this page has asked for and that are not answered yet, by database id. */
export const changes = signal<Readonly<Record<string, Change>>>({});

const EVERY_MS = 4_000;
const WHILE_CHANGING_MS = 1_000;
const SETTLED = new Set(['running', 'stopped', 'failed', 'deleted']);

const isChanging = (): boolean =>
  containers.value?.some(
    ({ status, role_setup }) => !SETTLED.has(status) || role_setup.status === 'installing',
  ) ?? false;

/** That somebody stops sharing a container is not announced. */
const isAnyShared = (): boolean =>
  containers.value?.some(({ collaboration }) => collaboration !== undefined) ?? false;

async function look(): Promise<void> {
  try {
    const list = await api.listContainers();
    if (JSON.stringify(list) !== JSON.stringify(containers.value)) containers.value = list;
    listFailure.value = null;
  } catch (failure) {
    if (!(failure instanceof ApiError && failure.status === 401)) listFailure.value = failure;
  }
}

let polling: Polling | null = null;

/** Keeps the list fresh until the returned function is called. */
export function followContainers(): () => void {
  const mine = watch({
    look,
    isSettled: () => !isChanging() && !isAnyShared(),
    settledMs: EVERY_MS,
    changingMs: WHILE_CHANGING_MS,
  });
  polling = mine;
  return () => {
    mine.stop();
    if (polling === mine) polling = null;
  };
}

export const refreshContainers = async (): Promise<void> =>
  polling === null ? await look() : await polling.now();

/** Forgets what belonged to who was signed in. */
export function forgetContainers(): void {
  containers.value = null;
  changes.value = {};
  listFailure.value = null;
}

/** Shows the change at once, the truth when it is known. Whether it worked. */
async function change(container: Container, how: Change, work: () => Promise<unknown>): Promise<boolean> {
  const { db_id } = container;
  changes.value = { ...changes.value, [db_id]: how };
  try {
    await work();
    return true;
  } catch (failure) {
    toastFailure(failure);
    return false;
  } finally {
    await refreshContainers();
    const { [db_id]: _, ...rest } = changes.value;
    changes.value = rest;
  }
}

function sayStarted(
  name: string,
  { recreated, volume_kept }: { recreated?: boolean; volume_kept?: boolean },
): void {
  if (!recreated) toastOk(`${name} is running`);
  else if (volume_kept)
    toastOk(`${name} was gone from the engine and has been made anew. /workspace is as it was.`);
  else
    toastWarning(
      `${name} was gone and has been made anew`,
      'Its volume was gone as well: /workspace is empty.',
    );
}

export const start = (container: Container): Promise<boolean> =>
  change(container, 'starting', async () =>
    sayStarted(container.name, await api.startContainer(container.db_id)),
  );

export const stop = (container: Container): Promise<boolean> =>
  change(container, 'stopping', async () => {
    await api.stopContainer(container.db_id);
    toastOk(`${container.name} is stopped`);
  });

export const remove = (container: Container): Promise<boolean> =>
  change(container, 'deleting', async () => {
    await api.deleteContainer(container.db_id);
    toastOk(`${container.name} is deleted`, { label: 'Undo', run: () => void restore(container) });
  });

async function restore({ db_id, name }: Container): Promise<void> {
  try {
    await api.restoreContainer(db_id);
    toastOk(`${name} is back, with its /workspace`);
  } catch (failure) {
    toastFailure(failure);
  }
  await refreshContainers();
}
