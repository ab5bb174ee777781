import { useState } from 'preact/hooks';
import { startRecording, stopRecording } from '../../api/recordings.ts';
import { toastFailure } from '../../state/toasts.ts';
import { IconButton } from '../../ui/button.tsx';
import type { TerminalController } from '../terminal/controller.ts';

type RecordingProps = {
  readonly containerId: string;
  readonly connectionId: string;
  readonly terminal: TerminalController;
};

/** A mark while what is shown is being recorded, and for the owner a button that starts and stops it. */
export function Recording({ containerId, connectionId, terminal }: RecordingProps) {
  const [busy, setBusy] = useState(false);
  const id = terminal.recording.value;
  const toggle = async (): Promise<void> => {
    setBusy(true);
    try {
      if (id === null) await startRecording(containerId, connectionId);
      else await stopRecording(id);
    } catch (failure) {
      toastFailure(failure);
    }
    setBusy(false);
    terminal.screen.terminal.focus();
  };
  const isOpen = terminal.connection.value?.kind === 'open';
  return (
    <>
      {id !== null && (
        <span class="recording-mark" role="status">
          Recording
        </span>
      )}
      {terminal.isOwner.value && terminal.everOpen.value && (
        <IconButton
          icon={id === null ? 'record' : 'stop'}
          label={id === null ? 'Record this terminal' : 'Stop recording'}
          onClick={() => void toggle()}
          disabled={busy || !isOpen}
        />
      )}
    </>
  );
}
