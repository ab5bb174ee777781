import { signal } from '@preact/signals';
import * as api from '../api/containers/containers.ts';
import { hasStatus, sentence } from '../api/errors.ts';
import type { Container, ContainerChange } from '../api/types.ts';
import {
  type Change,
  doneWords,
  failedWords,
  isSettled,
  isUnknown,
  outcomeOf,
  underWayWords,
  unknownWords,
} from '../lib/outcome.ts';
import { forgetList, refreshContainers } from './container-list.ts';
import { dismiss, toastError, toastFailure, toastOk, toastWarning } from './toasts.ts';

/** Changes that this page has asked for and whose outcome is not known yet, by database id. */
export const changes = signal<Readonly<Record<string, Change>>>({});

/** Forgets the containers of the user who was signed in. */
export function forgetContainers(): void {
  forgetList();
  changes.value = {};
}

const POLL_EVERY_MS = 1_500;
/** A request whose connection broke may still arrive, so an unchanged container proves nothing before. */
const LATE_ARRIVAL_MS = 5_000;

const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The container, or null when it does not exist; throws only when the user is signed out. */
async function seen(dbId: string): Promise<Container | null> {
  for (;;) {
    try {
      return await api.getContainer(dbId);
    } catch (failure) {
      if (hasStatus(failure, 404)) return null;
      if (hasStatus(failure, 401)) throw failure;
      await later(POLL_EVERY_MS);
    }
  }
}

type RequestedChange = {
  readonly container: Container;
  readonly how: Change;
  readonly wanted?: Partial<Container>;
};

/** Polls the container until the change is complete or has failed, and says which. */
async function follow(requested: RequestedChange, believeAfterMs: number): Promise<boolean> {
  const { container, how, wanted } = requested;
  const { db_id } = container;
  const sinceMs = performance.now();
  for (;;) {
    const outcome = outcomeOf(how, await seen(db_id), wanted);
    if (outcome.kind === 'done') {
      sayDone(requested);
      return true;
    }
    if (outcome.kind === 'failed' && performance.now() - sinceMs >= believeAfterMs) {
      const isOld = outcome.reason === null || outcome.reason === container.status_reason;
      toastError(
        failedWords(how, container),
        isOld ? 'Nothing has changed. Try again.' : sentence(outcome.reason),
      );
      return false;
    }
    await later(POLL_EVERY_MS);
  }
}

async function followFrom(
  requested: RequestedChange,
  note: number,
  believeAfterMs: number,
): Promise<boolean> {
  try {
    return await follow(requested, believeAfterMs);
  } catch {
    // why: the sign-in page says that the session ended, and the list shows the container after it
    return false;
  } finally {
    dismiss(note);
  }
}

const isUnderWay = (answer: unknown): boolean => {
  const { status } = (answer ?? {}) as Partial<Container>;
  return status !== undefined && !isSettled(status);
};

/**
 * Requests a change. Calls `done` when the answer says that it is complete, and throws a refusal. When the service is still
 * working on it, or no answer came, the returned function polls the container and reports the outcome. That function
 * resolves to whether the change worked.
 */
async function request<T>(
  requested: RequestedChange,
  work: () => Promise<T>,
  done: (answer: T) => void,
): Promise<() => Promise<boolean>> {
  const { container, how } = requested;
  try {
    const answer = await work();
    if (isUnderWay(answer)) {
      const note = toastOk(underWayWords(how, container));
      return () => followFrom(requested, note, 0);
    }
    done(answer);
    return async () => true;
  } catch (failure) {
    if (!isUnknown(failure)) throw failure;
    const note = toastWarning(unknownWords(how, container), 'Berth did not respond. Checking…');
    return () => followFrom(requested, note, LATE_ARRIVAL_MS);
  }
}

/** Shows the container as changing while `work` runs. */
async function whileShown<T>(
  { container: { db_id }, how }: RequestedChange,
  work: () => Promise<T>,
): Promise<T> {
  changes.value = { ...changes.value, [db_id]: how };
  try {
    return await work();
  } finally {
    await refreshContainers(db_id);
    const { [db_id]: _, ...rest } = changes.value;
    changes.value = rest;
  }
}

const sayDone = ({ container, how }: RequestedChange): void =>
  void toastOk(doneWords(how, container), how === 'deleting' ? undoOf(container) : null);

/** Shows the change immediately, and its outcome when it is known. Resolves to whether it worked. */
const change = <T>(
  requested: RequestedChange,
  work: (dbId: string) => Promise<T>,
  done: (answer: T) => void = () => sayDone(requested),
): Promise<boolean> =>
  whileShown(requested, async () => {
    try {
      const rest = await request(requested, () => work(requested.container.db_id), done);
      return await rest();
    } catch (failure) {
      toastFailure(failure, failedWords(requested.how, requested.container));
      return false;
    }
  });

function sayStarted(
  container: Container,
  { recreated, volume_kept }: { recreated?: boolean; volume_kept?: boolean },
): void {
  const { name } = container;
  if (!recreated) toastOk(doneWords('starting', container));
  else if (volume_kept)
    toastOk(`${name} was missing from the engine and was recreated. /workspace is unchanged.`);
  else
    toastWarning(
      `${name} was missing from the engine and was recreated`,
      'Its volume was missing as well: /workspace is empty.',
    );
}

/** null for an agent, of which nothing is kept. */
const undoOf = (container: Container) =>
  container.agent === undefined ? { label: 'Undo', run: () => void restore(container) } : null;

export const start = (container: Container): Promise<boolean> =>
  change({ container, how: 'starting' }, api.startContainer, (started) => sayStarted(container, started));

export const stop = (container: Container): Promise<boolean> =>
  change({ container, how: 'stopping' }, api.stopContainer);

export const remove = (container: Container): Promise<boolean> =>
  change({ container, how: 'deleting' }, api.deleteContainer);

/** Brings a deleted container back, stopped. */
export const restore = (container: Container): Promise<boolean> =>
  change({ container, how: 'restoring' }, api.restoreContainer);

/** Resolves when it is complete or continues in the background; throws a refusal, for the form. */
export async function update(container: Container, body: ContainerChange): Promise<void> {
  const { name, memory_mb, cpu_shares, disk_mb } = body;
  const wanted = { name, resources: { memory_mb, cpu_shares, disk_mb } };
  const requested: RequestedChange = { container, how: 'updating', wanted };
  const rest = await request(
    requested,
    () => api.updateContainer(container.db_id, body),
    ({ restarted }) => toastOk(restarted ? `${name} is running with its new limits` : `${name} saved`),
  );
  void whileShown(requested, rest);
}
