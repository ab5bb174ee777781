import { useEffect } from 'preact/hooks';
import { countDeleted, listDeleted } from '../../../api/containers/containers.ts';
import { type ChangedContainer, watch } from '../../../state/events.ts';
import { useLoaded } from '../../../ui/hooks/use-loaded.ts';

const EVERY_MS = 10_000;

/** A restore creates it again. */
const CHANGES: readonly ChangedContainer['type'][] = [
  'container_created',
  'container_deleted',
  'container_purged',
];

function useFollowed<T>(load: () => Promise<T>) {
  const loaded = useLoaded(load);
  const { reload } = loaded;
  useEffect(
    () =>
      watch({
        refresh: reload,
        isSettled: () => true,
        settledMs: EVERY_MS,
        changingMs: EVERY_MS,
        concerns: ({ type }) => CHANGES.includes(type),
      }).stop,
    [],
  );
  return loaded;
}

/** The deleted containers that can be restored, followed. */
export const useDeleted = () => useFollowed(listDeleted);

/** Their number; 0 before it is known. */
export const useDeletedCount = (): number => useFollowed(countDeleted).value ?? 0;
