import { useEffect } from 'preact/hooks';
import { isHeld, keyActed } from '../../../lib/browser/held-key.ts';
import { paneAction } from '../../../terminal/panes/shortcuts.ts';
import type { Workspace } from './pane-workspace.ts';

const isElsewhere = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || document.querySelector('dialog[open], [role="menu"]') !== null;

/** The keys of the panes while the focus is beside the terminals, which take their own. */
export function usePaneKeys(workspace: Workspace): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || isElsewhere(event.target)) return;
      if (isHeld(event)) {
        event.preventDefault();
        return;
      }
      const action = paneAction(event, workspace.panes.peek().length > 1);
      if (action === null) return;
      event.preventDefault();
      keyActed(event);
      workspace.act(action);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [workspace]);
}
