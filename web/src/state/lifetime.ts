import { keepContainer } from '../api/containers/containers.ts';
import type { Container } from '../api/types.ts';
import { refreshContainers } from './container-list.ts';
import { toastFailure, toastOk } from './toasts.ts';

const KEEP_SECONDS = 3_600;

/** Keeps a container that would end by itself for an hour. */
export async function keep({ db_id, name }: Container): Promise<void> {
  try {
    await keepContainer(db_id, KEEP_SECONDS);
    toastOk(`${name} is kept for 1 h`);
  } catch (failure) {
    toastFailure(failure, `${name} could not be kept`);
  }
  await refreshContainers();
}
