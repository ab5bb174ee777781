import { listFailure, refreshContainers } from '../../../state/container-list.ts';
import { Button } from '../../../ui/button.tsx';
import { Problem } from '../../../ui/problem.tsx';

/** Why the list of containers may be old; nothing while it is not. */
export function ListFailure() {
  if (listFailure.value === null) return null;
  return (
    <Problem failure={listFailure.value}>
      <Button onClick={() => void refreshContainers()}>Try again</Button>
    </Problem>
  );
}
