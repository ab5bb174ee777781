import { signal } from '@preact/signals';
import { useEffect, useState } from 'preact/hooks';
import type { Container, User } from '../../api/types.ts';
import { AddAgentDialog } from '../containers/agents/add-agent-dialog.tsx';
import { CreateDialog } from '../containers/create-dialog.tsx';
import { PurgeDialog } from '../containers/deleted/purge-dialog.tsx';
import { useContainerActions } from '../containers/use-container-actions.tsx';
import { Palette } from './palette.tsx';

const isOpen = signal(false);

export const openPalette = (): void => {
  isOpen.value = true;
};

const isInTerminal = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('.xterm') !== null;

/** In a terminal Ctrl+K is the shell's: there Shift comes with it, or Command on a Mac. */
function isPaletteKey({ key, ctrlKey, metaKey, shiftKey, altKey, target }: KeyboardEvent): boolean {
  if (key.toLowerCase() !== 'k' || altKey || ctrlKey === metaKey) return false;
  return isInTerminal(target) ? metaKey || shiftKey : !shiftKey;
}

function onKey(event: KeyboardEvent): void {
  if (!isPaletteKey(event)) return;
  // why: some browsers have an action of their own for it
  if (event.repeat) event.preventDefault();
  if (event.repeat || document.querySelector('dialog[open]') !== null) return;
  event.preventDefault();
  event.stopPropagation();
  openPalette();
}

type HostProps = { readonly user: User; readonly onHelp: () => void; readonly onLock: () => void };

/** The command palette, its key, and the dialogs that it opens. */
export function PaletteHost({ user, onHelp, onLock }: HostProps) {
  const [form, setForm] = useState<'create' | 'agent' | null>(null);
  const [purging, setPurging] = useState<Container | null>(null);
  const [onAction, dialog] = useContainerActions();
  useEffect(() => {
    // why: before a terminal takes the key
    addEventListener('keydown', onKey, { capture: true });
    return () => {
      removeEventListener('keydown', onKey, { capture: true });
      isOpen.value = false;
    };
  }, []);
  const closeForm = (): void => setForm(null);
  const host = {
    user,
    onAction,
    onPurge: setPurging,
    onHelp,
    onLock,
    onCreate: () => setForm('create'),
    onAddAgent: () => setForm('agent'),
  };
  const close = (): void => {
    isOpen.value = false;
  };
  return (
    <>
      {isOpen.value && <Palette host={host} onClose={close} />}
      {form === 'create' && <CreateDialog onClose={closeForm} />}
      {form === 'agent' && <AddAgentDialog onClose={closeForm} />}
      {purging && <PurgeDialog container={purging} onDone={() => {}} onClose={() => setPurging(null)} />}
      {dialog}
    </>
  );
}
