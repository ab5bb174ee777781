import { useEffect, useState } from 'preact/hooks';
import { deleteRecording, listRecordings, stopRecording } from '../../api/recordings.ts';
import type { Recording } from '../../api/types.ts';
import { toastFailure } from '../../state/toasts.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { Item, Items, Section } from '../../ui/section.tsx';
import { useTitle } from '../../ui/use-title.ts';
import { Removal } from '../settings/remove-dialog.tsx';
import { download, Facts, StateTag } from './recording-details.tsx';

const WHILE_RECORDING_MS = 2_000;

/** All so far, and where the next part begins. */
function useRecordings() {
  const [value, setValue] = useState<readonly Recording[] | null>(null);
  const [cursor, setCursor] = useState<string | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const load = async (from: string | null): Promise<void> => {
    try {
      const page = await listRecordings(from);
      setValue((before) => [...(from === null ? [] : (before ?? [])), ...page.recordings]);
      setCursor(page.next_cursor);
      setFailure(null);
    } catch (reason) {
      setFailure(reason);
    }
  };
  const renew = async (): Promise<void> => {
    const newer = new Map((await listRecordings(null)).recordings.map((each) => [each.id, each]));
    setValue((before) => before?.map((each) => newer.get(each.id) ?? each) ?? null);
  };
  const goesOn = value?.some(({ state }) => state === 'recording') ?? false;
  useEffect(() => void load(null), []);
  useEffect(() => {
    if (!goesOn) return;
    const timer = setInterval(() => void renew().catch(() => {}), WHILE_RECORDING_MS);
    return () => clearInterval(timer);
  }, [goesOn]);
  return {
    value,
    failure,
    reload: () => load(null),
    more: cursor === null ? null : () => load(cursor),
  };
}

/** Recordings of one's own terminals. */
export function RecordingsPage() {
  const list = useRecordings();
  const [removing, setRemoving] = useState<Recording | null>(null);
  useTitle('Recordings');
  return (
    <div class="page tabbed">
      <div class="page-head">
        <h1>Recordings</h1>
      </div>
      <Section
        title="Your terminals"
        lead="Their output, including the echo of your typing. Keystrokes are never recorded."
      >
        <Items
          of={list}
          none="No recordings yet. To start one, open a terminal and press the red circle in its bar."
          row={(recording) => (
            <Row
              key={recording.id}
              recording={recording}
              onChanged={() => void list.reload()}
              onRemove={() => setRemoving(recording)}
            />
          )}
        />
        {list.more && <Button onClick={() => void list.more?.()}>Show more</Button>}
      </Section>
      {removing && (
        <Removal
          title={`Delete the recording of “${removing.container_name}”?`}
          action="Delete"
          done="Recording deleted"
          work={() => deleteRecording(removing.id)}
          onDone={() => void list.reload()}
          onClose={() => setRemoving(null)}
        >
          <p>This cannot be undone. Download it first if you may need it.</p>
        </Removal>
      )}
    </div>
  );
}

type RowProps = {
  readonly recording: Recording;
  readonly onChanged: () => void;
  readonly onRemove: () => void;
};

function Row({ recording, onChanged, onRemove }: RowProps) {
  const { id, container_name: name, state } = recording;
  const href = `/recordings/${id}`;
  const stop = (): void => void stopRecording(id).then(onChanged, toastFailure);
  return (
    <Item
      title={
        <>
          <a class="recording-name" href={href}>
            {name}
          </a>{' '}
          <StateTag state={state} />
        </>
      }
      facts={<Facts recording={recording} />}
    >
      {state === 'recording' && <IconButton icon="stop" label={`Stop recording ${name}`} onClick={stop} />}
      <a class="icon-button" href={href} aria-label={`Play ${name}`} title={`Play ${name}`}>
        <Icon name="play" size={18} />
      </a>
      <IconButton icon="download" label={`Download ${name}`} onClick={() => void download(recording)} />
      <IconButton icon="trash" label={`Delete ${name}`} onClick={onRemove} />
    </Item>
  );
}
