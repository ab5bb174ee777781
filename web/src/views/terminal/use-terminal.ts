import { effect } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { clampFont, DEFAULT_FONT_PX, fontSizePx, isDark } from '../../lib/preferences.ts';
import type { TerminalAction } from '../../terminal/shortcuts.ts';
import { type TerminalController, terminalController } from './controller.ts';

export function changeFont(action: TerminalAction): void {
  if (action === 'larger') fontSizePx.value = clampFont(fontSizePx.value + 1);
  if (action === 'smaller') fontSizePx.value = clampFont(fontSizePx.value - 1);
  if (action === 'usual_size') fontSizePx.value = DEFAULT_FONT_PX;
}

/** Follows what the browser tells of the line and of the page. */
function wakeWith(terminal: TerminalController): () => void {
  const wake = (): void => {
    if (document.visibilityState === 'visible') terminal.nudge();
  };
  document.addEventListener('visibilitychange', wake);
  addEventListener('online', wake);
  return () => {
    document.removeEventListener('visibilitychange', wake);
    removeEventListener('online', wake);
  };
}

/** The terminal in `host`, or null until its screen is there and fits. */
export function useTerminal(
  id: string,
  host: RefObject<HTMLElement | null>,
  onKey: Readonly<Record<'search' | 'leave', () => void>>,
): { readonly terminal: TerminalController | null; readonly failure: unknown } {
  const [terminal, setTerminal] = useState<TerminalController | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    let gone = false;
    const cleanups: (() => void)[] = [];
    const onAction = (action: TerminalAction): void => {
      if (action === 'search' || action === 'leave') onKey[action]();
      else changeFont(action);
    };
    const begin = (made: TerminalController): void => {
      if (gone) {
        made.dispose();
        return;
      }
      cleanups.push(() => made.dispose());
      cleanups.push(wakeWith(made));
      cleanups.push(effect(() => made.screen.setLook({ dark: isDark(), fontPx: fontSizePx.value })));
      setTerminal(made);
    };
    const cleanUp = (): void => {
      for (const cleanup of cleanups.splice(0)) cleanup();
    };
    if (host.current !== null) terminalController(id, host.current, onAction).then(begin, setFailure);
    return () => {
      gone = true;
      cleanUp();
    };
  }, [id]);
  return { terminal, failure };
}
