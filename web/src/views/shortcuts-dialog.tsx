import { singleKeys } from '../lib/browser/preferences.ts';
import { shownKeys } from '../lib/browser/shortcut-keys.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Check } from '../ui/fields/check.tsx';

type Shortcut = readonly [keys: string, what: string];

const LIST: readonly Shortcut[] = [
  ['Ctrl K', 'Search for a container, page or action'],
  ['n', 'New container'],
  ['/', 'Filter the list'],
  ['↑ ↓', 'Move through the list'],
  ['Enter', 'Open the terminal of the row'],
  ['c', 'Compact or taller rows'],
  ['Shift L', 'Lock the screen'],
  ['?', 'Show this list'],
  ['Esc', 'Close a dialog or a menu'],
];

const TERMINAL: readonly Shortcut[] = [
  ['Ctrl Shift K', 'Search for a container, page or action'],
  ['Ctrl Shift F', 'Search the output'],
  ['Ctrl Shift C', 'Copy the selection'],
  ['Ctrl C', 'Copy the selection, or interrupt'],
  ['Ctrl Shift V', 'Paste'],
  ['Ctrl Shift L', 'Move the focus to the bar above'],
  ['Ctrl +', 'Larger text'],
  ['Ctrl −', 'Smaller text'],
  ['Ctrl 0', 'Default text size'],
];

const PANES: readonly Shortcut[] = [
  ['Ctrl Shift E', 'New pane to the right'],
  ['Ctrl Shift O', 'New pane below'],
  ['Ctrl Shift X', 'Close the pane and end its programs'],
  ['Ctrl Shift ←', 'Pane to the left; also → ↑ ↓'],
  ['← →', 'Move the focused divider'],
];

function Table({ title, rows }: { title: string; rows: readonly Shortcut[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl class="shortcuts">
        {rows
          .map(([keys, what]) => [shownKeys(keys), what] as const)
          .filter(([keys]) => keys.length > 0)
          .map(([keys, what]) => (
            <div key={what}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
      </dl>
    </section>
  );
}

const letSingleKeysAct = (on: boolean): void => {
  singleKeys.value = on;
};

export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div class="dialog-body shortcut-columns">
        <div>
          <Table title="Containers" rows={LIST} />
          <Table title="Panes" rows={PANES} />
        </div>
        <div>
          <Table title="Terminal" rows={TERMINAL} />
          <section>
            <Check
              label="Single-key shortcuts"
              checked={singleKeys.value}
              onChange={letSingleKeysAct}
              hint="Such as n and /. When off, single keys do nothing in this browser."
            />
          </section>
        </div>
      </div>
    </Dialog>
  );
}
