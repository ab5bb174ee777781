import { useState } from 'preact/hooks';
import { startRecording, stopRecording } from '../../api/terminals/recordings.ts';
import { toastFailure } from '../../state/toasts.ts';
import { MAIN_PANE } from '../../terminal/panes/pane-tree.ts';
import { IconButton } from '../../ui/button.tsx';
import type { TerminalController } from '../terminal/controller/terminal-controller.ts';

type RecordingProps = {
  readonly containerId: string;
  readonly connectionId: string;
  /** null while its screen is being made. */
  readonly terminal: TerminalController | null;
  readonly isOwnContainer: boolean;
};

/** While the terminal is being recorded. */
export function RecordingMark({ terminal }: { terminal: TerminalController }) {
  if (terminal.recording.value === null) return null;
  return (
    <span class="recording-mark" role="status">
      <span>Recording</span>
    </span>
  );
}

/** Starts and stops the recording of the user's own terminal. */
export function RecordButton({ containerId, connectionId, terminal, isOwnContainer }: RecordingProps) {
  const [busy, setBusy] = useState(false);
  const id = terminal?.recording.value ?? null;
  const toggle = async (): Promise<void> => {
    setBusy(true);
    // why: the user can type on without waiting for the answer
    terminal?.screen.terminal.focus();
    try {
      if (id === null) await startRecording(containerId, connectionId);
      else await stopRecording(id);
    } catch (failure) {
      toastFailure(failure);
    }
    setBusy(false);
  };
  const isOpen = terminal?.connection.value?.kind === 'open';
  // Once open, the main terminal says who owns it; all others are the user's own.
  const isOwn =
    connectionId !== MAIN_PANE || (terminal?.everOpen.value ? terminal.isOwner.value : isOwnContainer);
  if (!isOwn) return null;
  return (
    <IconButton
      icon={id === null ? 'record' : 'stop'}
      label={id === null ? 'Record this terminal' : 'Stop recording'}
      onClick={() => void toggle()}
      disabled={busy || !isOpen}
    />
  );
}
