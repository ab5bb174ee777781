import { effect } from '@preact/signals';
import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { onNotices } from '../../lib/browser/network-notices.ts';
import { clampFont, DEFAULT_FONT_PX, fontSizePx } from '../../lib/browser/preferences.ts';
import type { TerminalAction } from '../../terminal/panes/shortcuts.ts';
import type { TerminalKeys } from './controller/screen-listener.ts';
import {
  preferredAppearance,
  type TerminalController,
  type TerminalTarget,
  terminalController,
} from './controller/terminal-controller.ts';
import type { Pane } from './panes/pane-workspace.ts';

export function changeFont(action: TerminalAction): void {
  if (action === 'larger') fontSizePx.value = clampFont(fontSizePx.value + 1);
  if (action === 'smaller') fontSizePx.value = clampFont(fontSizePx.value - 1);
  if (action === 'usual_size') fontSizePx.value = DEFAULT_FONT_PX;
}

export type TerminalUse = TerminalKeys & {
  readonly containerId: string;
  /** Whether the terminal is no longer needed when it leaves the page now. */
  isOver(): boolean;
};

/** Gives the pane its terminal, in `host`; returns why it has none, or null. */
export function useTerminal(pane: Pane, host: RefObject<HTMLElement | null>, use: TerminalUse): unknown {
  const [failure, setFailure] = useState<unknown>(null);
  useEffect(() => {
    let gone = false;
    const cleanups: (() => void)[] = [];
    const begin = (made: TerminalController): void => {
      if (gone) {
        made.dispose(true);
        return;
      }
      cleanups.push(onNotices({ wake: () => made.nudge(), offline: () => made.doubt() }));
      cleanups.push(effect(() => made.screen.setAppearance(preferredAppearance())));
      cleanups.push(() => {
        pane.terminal.value = null;
        made.dispose(use.isOver());
      });
      pane.terminal.value = made;
    };
    const target: TerminalTarget = { containerId: use.containerId, connectionId: pane.id };
    if (host.current !== null) terminalController(target, host.current, use).then(begin, setFailure);
    return () => {
      gone = true;
      for (const cleanup of cleanups) cleanup();
    };
  }, [pane]);
  return failure;
}
