import { listFailure, refreshContainers } from '../../../state/container-list.ts';
import { LoadProblem } from '../../../ui/problem.tsx';

/** Why the list of containers may be old; nothing while it is not. */
export const ListFailure = () => (
  <LoadProblem of={{ failure: listFailure.value, reload: () => refreshContainers() }} />
);
