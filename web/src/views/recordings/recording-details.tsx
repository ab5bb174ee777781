import { deleteRecording, downloadRecording } from '../../api/terminals/recordings.ts';
import type { Recording } from '../../api/types.ts';
import { saveFile } from '../../lib/browser/save-file.ts';
import { now } from '../../lib/clock.ts';
import { ago, bytes, clockTime } from '../../lib/format/format.ts';
import { toastFailure } from '../../state/toasts.ts';
import { Removal } from '../settings/remove-dialog.tsx';

/** The facts of a recording in one line. */
export function Facts({ recording }: { recording: Recording }) {
  const { connection_id, cols, rows, duration_ms, size_bytes, started_at } = recording;
  return (
    <>
      {connection_id !== 'main' && <span class="mono">{connection_id} · </span>}
      {ago(started_at, now.value)} · {clockTime(duration_ms)} long · {bytes(size_bytes)} · {cols}×{rows}
    </>
  );
}

/** A tag for a recording that is not simply complete. */
export function StateTag({ state }: { state: Recording['state'] }) {
  if (state === 'recording') return <span class="tag recording-tag">recording</span>;
  return state === 'truncated' ? <span class="tag bad">cut short</span> : null;
}

type RemoveProps = {
  readonly recording: Recording;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

export function RemoveRecording({ recording: { id, container_name }, onDone, onClose }: RemoveProps) {
  return (
    <Removal
      title={`Delete the recording of “${container_name}”?`}
      action="Delete"
      done="Recording deleted"
      work={() => deleteRecording(id)}
      onDone={onDone}
      onClose={onClose}
    >
      <p>This cannot be undone. Download it first if you may need it.</p>
    </Removal>
  );
}

export async function download({ id, container_name, started_at }: Recording): Promise<void> {
  try {
    saveFile(
      await downloadRecording(id),
      `${container_name}-${started_at.slice(0, 19).replace(/[:T]/g, '-')}.cast`,
    );
  } catch (failure) {
    toastFailure(failure);
  }
}
