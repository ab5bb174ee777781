import type { Terminal } from '@xterm/xterm';
import { copyText } from '../../lib/browser/clipboard.ts';
import { isHeld, keyActed } from '../../lib/browser/held-key.ts';
import { actionOf, repeats, type TerminalAction } from '../panes/shortcuts.ts';

export type InputListener = {
  input(bytes: Uint8Array): void;
  /** What is sent for this typed input. */
  modified(input: string): string;
  /** A key that means something to the page; copying is done already. */
  action(action: TerminalAction): void;
  /** Whether there are other panes to go to. */
  severalPanes(): boolean;
};

export const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0));

async function copySelection(terminal: Terminal): Promise<void> {
  if (!terminal.hasSelection()) return;
  await copyText(terminal.getSelection());
  terminal.clearSelection();
}

/** Takes the keys that are the page's. */
export function handleKeys(terminal: Terminal, listener: InputListener): void {
  terminal.attachCustomKeyEventHandler((event) => {
    if (event.type === 'keydown' && isHeld(event)) {
      event.preventDefault();
      return false;
    }
    const state = { hasSelection: terminal.hasSelection(), severalPanes: listener.severalPanes() };
    const action = actionOf(event, state);
    if (action === null) return true;
    if (event.type !== 'keydown') return false;
    if (!repeats(action)) keyActed(event);
    // why: the browser's own paste needs no permission, and works on plain http
    if (action !== 'paste') event.preventDefault();
    if (action === 'copy') void copySelection(terminal);
    listener.action(action);
    return false;
  });
}

/** Sends what is typed into the terminal. Returns what pastes a text, which no modifier of the key bar changes. */
export function sendInput(
  terminal: Terminal,
  host: HTMLElement,
  listener: InputListener,
): (text: string) => void {
  const encoder = new TextEncoder();
  let isPasting = false;
  terminal.onData((text) => listener.input(encoder.encode(isPasting ? text : listener.modified(text))));
  terminal.onBinary((text) => listener.input(latin1(text)));
  const paste = (text: string): void => {
    isPasting = true;
    terminal.paste(text);
    isPasting = false;
  };
  const onPaste = (event: ClipboardEvent): void => {
    event.preventDefault();
    event.stopPropagation();
    paste(event.clipboardData?.getData('text/plain') ?? '');
  };
  host.addEventListener('paste', onPaste, { capture: true });
  return paste;
}
