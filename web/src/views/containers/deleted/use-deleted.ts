import { useEffect } from 'preact/hooks';
import { listDeleted } from '../../../api/containers/containers.ts';
import { watch } from '../../../state/events.ts';
import { useLoaded } from '../../../ui/hooks/use-loaded.ts';

const EVERY_MS = 10_000;

/** The deleted containers that can be restored, followed. */
export function useDeleted() {
  const list = useLoaded(listDeleted);
  const { reload } = list;
  useEffect(
    () => watch({ refresh: reload, isSettled: () => true, settledMs: EVERY_MS, changingMs: EVERY_MS }).stop,
    [],
  );
  return list;
}
