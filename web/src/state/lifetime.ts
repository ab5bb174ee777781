import { keepContainer } from '../api/containers/containers.ts';
import type { Container } from '../api/types.ts';
import { refreshContainers } from './container-list.ts';
import { toastOutcome } from './toasts.ts';

const KEEP_SECONDS = 3_600;

/** Keeps a container that would end by itself for an hour. */
export async function keep({ db_id, name }: Container): Promise<void> {
  const work = keepContainer(db_id, KEEP_SECONDS);
  await toastOutcome(work, `${name} is kept for 1 h`, `${name} could not be kept`);
  await refreshContainers(db_id);
}
