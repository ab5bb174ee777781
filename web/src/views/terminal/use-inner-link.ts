import { useEffect } from 'preact/hooks';
import { copyText } from '../../lib/browser/clipboard.ts';
import { toastOk, toastWarning } from '../../state/toasts.ts';
import type { TerminalController } from './controller/terminal-controller.ts';
import type { Known } from './overlay-state.ts';

const copyCommand = async (command: string): Promise<void> => {
  if (await copyText(command)) toastOk('Command copied');
};

/** Says how to reach an address in the container when its link is pressed. */
export function useInnerLink(terminal: TerminalController | null, known: Known): void {
  const link = terminal?.innerLink.value ?? null;
  useEffect(() => {
    if (terminal === null || link === null) return;
    terminal.innerLink.value = null;
    const isOwn = typeof known === 'object' && !known.collaboration && known.agent === undefined;
    const title = `${link.host} is an address inside this container`;
    if (!isOwn) {
      toastWarning(title, 'Your browser cannot open it.');
      return;
    }
    const command = `berth port-forward ${known.name} ${link.port}`;
    toastWarning(title, `To open it in your browser, run on your computer: ${command}`, {
      label: 'Copy command',
      run: () => void copyCommand(command),
    });
  }, [terminal, link]);
}
