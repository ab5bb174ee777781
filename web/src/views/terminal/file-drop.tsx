import { useState } from 'preact/hooks';
import { toastWarning } from '../../state/toasts.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { shellWord } from '../../uploads/file-names.ts';
import { uploadAll, uploads } from '../../uploads/uploads.ts';
import type { TerminalController } from './controller/terminal-controller.ts';
import type { Known } from './overlay-state.ts';

/** Whether the user may upload to it; the files of an agent are wherever its user keeps them. */
export const mayUpload = (known: Known): boolean =>
  typeof known === 'object' && !known.collaboration && !known.agent && known.status === 'running';

/** Uploads the files, and types their paths where the cursor is. */
export async function uploadInto(
  terminal: TerminalController,
  containerId: string,
  files: readonly File[],
): Promise<void> {
  const paths = await uploadAll(containerId, files);
  if (paths.length > 0) terminal.screen.paste(`${paths.map(shellWord).join(' ')} `);
}

/** Lets the user choose files of this machine. */
export function chooseFiles(onChosen: (files: readonly File[]) => void): void {
  const input = document.createElement('input');
  input.type = 'file';
  input.multiple = true;
  input.addEventListener('change', () => onChosen([...(input.files ?? [])]));
  input.click();
}

const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;

const isFolder = (item: DataTransferItem): boolean => item.webkitGetAsEntry()?.isDirectory ?? false;

/** The files of a drop. Folders have no bytes of their own. */
function filesOf({ dataTransfer }: DragEvent): readonly File[] {
  const items = [...(dataTransfer?.items ?? [])].filter(({ kind }) => kind === 'file');
  if (items.some(isFolder)) toastWarning('Folders cannot be dropped here', 'Use “berth cp” for them.');
  return items.filter((item) => !isFolder(item)).flatMap((item) => item.getAsFile() ?? []);
}

/** Takes files that are dropped on a terminal. `isOver`: they are above it now. `terminal`: null where none may come. */
export function useFileDrop(terminal: TerminalController | null, containerId: string) {
  const [isOver, setOver] = useState(false);
  const over = (event: DragEvent): void => {
    if (!hasFiles(event)) return;
    // why: otherwise the browser would leave the page for the file
    event.preventDefault();
    if (event.dataTransfer) event.dataTransfer.dropEffect = terminal === null ? 'none' : 'copy';
    setOver(terminal !== null);
  };
  const drop = (event: DragEvent): void => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    setOver(false);
    const files = filesOf(event);
    if (terminal !== null && files.length > 0) void uploadInto(terminal, containerId, files);
  };
  return { isOver, handlers: { onDragOver: over, onDrop: drop, onDragLeave: () => setOver(false) } };
}

/** While files are dragged over the terminal: where they would go. */
export const DropHint = () => (
  <div class="drop-hint">
    <Icon name="upload" size={24} />
    Drop to upload to /workspace
  </div>
);

/** The uploads to this container that are under way. */
export function Uploads({ containerId }: { containerId: string }) {
  const own = uploads.value.filter((one) => one.containerId === containerId);
  if (own.length === 0) return null;
  return (
    <ul class="uploads" aria-label="Uploads">
      {own.map(({ id, name, share, cancel }) => (
        <li key={id}>
          <span>{name}</span>
          <progress value={share} aria-label={`Upload of ${name}`} />
          <span class="share" aria-hidden="true">
            {Math.floor(share * 100)} %
          </span>
          <IconButton icon="close" label={`Cancel the upload of ${name}`} onClick={cancel} />
        </li>
      ))}
    </ul>
  );
}
