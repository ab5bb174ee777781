import { keptDays } from '../../api/containers/containers.ts';
import type { Container } from '../../api/types.ts';
import { plural } from '../../lib/format/format.ts';
import { remove } from '../../state/containers.ts';
import { me } from '../../state/profile.ts';
import { Confirm } from '../../ui/confirm.tsx';
import { useLoaded } from '../../ui/hooks/use-loaded.ts';

type DeleteProps = { readonly container: Container; readonly onClose: () => void };

/** Deletes a container; says what is lost at once, and what is kept for how long. */
export function DeleteDialog({ container, onClose }: DeleteProps) {
  return (
    <Confirm
      title={`Delete ${container.name}?`}
      action="Delete"
      danger
      onConfirm={() => void remove(container)}
      onClose={onClose}
    >
      <p>
        The container is stopped and removed, with everything installed outside <code>/workspace</code>.
      </p>
      {me.value?.guest_until ? (
        <p>
          You are a guest: the files in <code>/workspace</code> are permanently deleted within an hour.
        </p>
      ) : (
        <KeptFor />
      )}
    </Confirm>
  );
}

function KeptFor() {
  const { value: days } = useLoaded(keptDays);
  return (
    <p>
      The files in <code>/workspace</code> are kept for {days === null ? 'some days' : plural(days, 'day')}.
      Until then they count against your tier, and you can restore the container under “Recently deleted”.
    </p>
  );
}
