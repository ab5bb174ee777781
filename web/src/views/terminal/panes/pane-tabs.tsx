import type { Workspace } from './pane-workspace.ts';

/** Selects the pane, where only one is shown at a time. */
export function PaneSwitch({ workspace }: { workspace: Workspace }) {
  const [panes, active] = [workspace.panes.value, workspace.active.value];
  if (panes.length < 2 || workspace.geometry.value?.stacked !== true) return null;
  return (
    <nav class="pane-switch" aria-label="Panes">
      {panes.map((pane, at) => {
        const title = pane.terminal.value?.title.value ?? '';
        return (
          <button
            key={pane.id}
            type="button"
            aria-pressed={pane === active}
            aria-label={`Pane ${at + 1}${title === '' ? '' : `: ${title}`}`}
            // why: taking the focus would close the keyboard
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => workspace.activate(pane.id)}
          >
            {at + 1}
          </button>
        );
      })}
    </nav>
  );
}
