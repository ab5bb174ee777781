import { useEffect } from 'preact/hooks';
import { go } from '../../lib/browser/router.ts';
import { toastOk } from '../../state/toasts.ts';
import type { TerminalController } from './controller/terminal-controller.ts';

/** Shows a notice of the service about a terminal, once. */
export function useNotice(terminal: TerminalController | null): void {
  const notice = terminal?.notice.value ?? null;
  useEffect(() => {
    if (terminal === null || notice === null) return;
    const isOfRecording = notice.startsWith('The recording');
    toastOk(notice, isOfRecording ? { label: 'Recordings', run: () => go('/recordings') } : null);
    terminal.notice.value = null;
  }, [terminal, notice]);
}
