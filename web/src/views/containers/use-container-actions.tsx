import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { followEngine } from '../../state/engine.ts';
import { ActionDialog } from './confirm-dialog.tsx';
import type { ContainerAction } from './list/row.tsx';

/** What opens the dialog of an action, and that dialog while it is open. */
export function useContainerActions(): readonly [(action: ContainerAction) => void, JSX.Element | null] {
  const [action, setAction] = useState<ContainerAction | null>(null);
  useEffect(followEngine, []);
  const dialog = action && (
    <ActionDialog key={action.what} action={action} onAction={setAction} onClose={() => setAction(null)} />
  );
  return [setAction, dialog];
}
