import { useState } from 'preact/hooks';
import { startRecording, stopRecording } from '../../api/terminals/recordings.ts';
import { toastFailure } from '../../state/toasts.ts';
import { MAIN_PANE } from '../../terminal/panes/pane-tree.ts';
import { IconButton } from '../../ui/button.tsx';
import { item, type MenuItem } from '../../ui/menu.tsx';
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

async function toggle({ containerId, connectionId, terminal }: RecordingProps): Promise<void> {
  const id = terminal?.recording.peek() ?? null;
  // why: the user can type on without waiting for the answer
  terminal?.screen.terminal.focus();
  try {
    if (id === null) await startRecording(containerId, connectionId);
    else await stopRecording(id);
  } catch (failure) {
    toastFailure(failure);
  }
}

/** Starts or stops the recording of the user's own terminal; null for another's. */
export function recordItem(props: RecordingProps): MenuItem | null {
  const { connectionId, terminal, isOwnContainer } = props;
  const isOff = terminal?.recording.value == null;
  // Once open, the main terminal says who owns it; all others are the user's own.
  const isOwn =
    connectionId !== MAIN_PANE || (terminal?.everOpen.value ? terminal.isOwner.value : isOwnContainer);
  if (!isOwn) return null;
  return item(
    isOff ? 'record' : 'stop',
    isOff ? 'Record this terminal' : 'Stop recording',
    () => void toggle(props),
    { disabled: terminal?.connection.value?.kind !== 'open' },
  );
}

/** The same as a button. */
export function RecordButton(props: RecordingProps) {
  const [busy, setBusy] = useState(false);
  const record = recordItem(props);
  if (record === null) return null;
  const onClick = async (): Promise<void> => {
    setBusy(true);
    await toggle(props);
    setBusy(false);
  };
  return (
    <IconButton
      icon={record.icon}
      label={record.label}
      onClick={() => void onClick()}
      disabled={busy || record.disabled === true}
    />
  );
}
