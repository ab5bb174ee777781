import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import type { TerminalController } from './controller/terminal-controller.ts';

/** Says that a shell is not kept as usual, and how to get one that is; nothing once that was read. */
export function PlainShell({ terminal }: { terminal: TerminalController }) {
  if (!terminal.plainShell.value || terminal.connection.value?.kind !== 'open') return null;
  const dismiss = (): void => {
    terminal.plainShell.value = false;
    terminal.screen.terminal.focus();
  };
  return (
    <div class="plain-shell" role="status">
      <Icon name="warning" size={18} />
      <div>
        <strong>Plain shell: tmux could not start</strong>
        <p>
          Programs here end a few minutes after you leave, and when Berth restarts. End programs you do not
          need in this container, type <code>exit</code>, and open a new shell to try tmux again.
        </p>
      </div>
      <Button onClick={dismiss}>Dismiss</Button>
    </div>
  );
}
