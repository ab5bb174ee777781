import { Dialog } from '../ui/dialog.tsx';

type Shortcut = readonly [keys: readonly string[], what: string];

const LIST: readonly Shortcut[] = [
  [['n'], 'New container'],
  [['/'], 'Filter the list'],
  [['↑', '↓'], 'Move through the list'],
  [['Enter'], 'Open the terminal of the row'],
  [['Shift', 'L'], 'Lock the screen'],
  [['?'], 'This overview'],
  [['Esc'], 'Close a dialog or a menu'],
];

const TERMINAL: readonly Shortcut[] = [
  [['Ctrl', 'Shift', 'F'], 'Search the output'],
  [['Ctrl', 'Shift', 'C'], 'Copy the selection'],
  [['Ctrl', 'C'], 'Copy a selection, else interrupt'],
  [['Ctrl', 'Shift', 'V'], 'Paste'],
  [['Ctrl', 'Shift', 'L'], 'Leave the shell for the bar above'],
  [['Ctrl', '+'], 'Larger text'],
  [['Ctrl', '−'], 'Smaller text'],
  [['Ctrl', '0'], 'Usual size of text'],
];

const PANES: readonly Shortcut[] = [
  [['Ctrl', 'Shift', 'E'], 'Split: another pane to the right'],
  [['Ctrl', 'Shift', 'O'], 'Split: another pane below'],
  [['Ctrl', 'Shift', 'X'], 'Close the pane, and end what runs in it'],
  [['Ctrl', 'Shift', '←', '→', '↑', '↓'], 'Go to the pane beside it'],
  [['Tab'], 'In the bar: go on to the lines between panes'],
  [['←', '→', '↑', '↓'], 'Move such a line; Enter: to the middle'],
];

function Table({ title, rows }: { title: string; rows: readonly Shortcut[] }) {
  return (
    <section>
      <h3>{title}</h3>
      <dl class="shortcuts">
        {rows.map(([keys, what]) => (
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

export function Shortcuts({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <div class="dialog-body shortcut-columns">
        <Table title="Containers" rows={LIST} />
        <Table title="Terminal" rows={TERMINAL} />
        <Table title="Panes of a terminal" rows={PANES} />
      </div>
    </Dialog>
  );
}
