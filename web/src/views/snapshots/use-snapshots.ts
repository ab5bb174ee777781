import { useEffect } from 'preact/hooks';
import { listDeletedSnapshots, listSnapshots } from '../../api/containers/snapshots.ts';
import { watch } from '../../state/events.ts';
import { useLoaded } from '../../ui/hooks/use-loaded.ts';

const SETTLED_MS = 30_000;
const CHANGING_MS = 2_000;

/** The user's snapshots, and deleted ones that can be restored; followed, closely while one is being taken. */
export function useSnapshots() {
  let isSettled = true;
  const list = useLoaded(listSnapshots);
  const deleted = useLoaded(listDeletedSnapshots);
  isSettled = list.value?.every(({ status }) => status !== 'creating') ?? true;
  const reload = async (): Promise<void> => {
    await Promise.all([list.reload(), deleted.reload()]);
  };
  useEffect(
    () =>
      watch({
        refresh: reload,
        isSettled: () => isSettled,
        settledMs: SETTLED_MS,
        changingMs: CHANGING_MS,
      }).stop,
    [isSettled],
  );
  return { list, deleted, reload };
}
