import type { ManagedUser } from '../../../api/types.ts';
import type { MadeLink } from './link-dialog.tsx';

export type PersonDialogProps = {
  readonly user: ManagedUser;
  readonly tiers: readonly string[];
  /** `before`: the user before the change. */
  readonly onChanged: (after: ManagedUser, before: ManagedUser) => void;
  readonly onMade: (made: MadeLink) => void;
  readonly onDeleted: (user: ManagedUser, isDone: boolean) => void;
  readonly onClose: () => void;
};
