import { useEffect, useState } from 'preact/hooks';
import { listRecordings, stopRecording } from '../../api/terminals/recordings.ts';
import type { Recording } from '../../api/types.ts';
import { toastFailure } from '../../state/toasts.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { usePages } from '../../ui/hooks/use-pages.ts';
import { useTitle } from '../../ui/hooks/use-title.ts';
import { Icon } from '../../ui/icon.tsx';
import { Page } from '../../ui/page.tsx';
import { Item, Items, Section } from '../../ui/section.tsx';
import { tooltip } from '../../ui/tooltip.tsx';
import { download, Facts, RemoveRecording, StateTag } from './recording-details.tsx';

const WHILE_RECORDING_MS = 2_000;

function useRecordings() {
  const list = usePages(listRecordings);
  const isRecording = list.value?.some(({ state }) => state === 'recording') ?? false;
  useEffect(() => {
    if (!isRecording) return;
    const renew = (): Promise<void> => listRecordings(null).then(({ items }) => list.update(items));
    const timer = setInterval(() => void renew().catch(() => {}), WHILE_RECORDING_MS);
    return () => clearInterval(timer);
  }, [isRecording]);
  return list;
}

/** Recordings of the user's own terminals. */
export function RecordingsPage() {
  const list = useRecordings();
  const [removing, setRemoving] = useState<Recording | null>(null);
  useTitle('Recordings');
  return (
    <Page title="Recordings">
      <Section
        title="Your terminals"
        lead="Their output, including the echo of your typing. Keystrokes are never recorded."
      >
        <Items
          of={list}
          none="No recordings yet. To start one, open a terminal and choose “Record this terminal” in its bar."
          row={(recording) => (
            <Row
              key={recording.id}
              recording={recording}
              onChanged={() => void list.reload()}
              onRemove={() => setRemoving(recording)}
            />
          )}
        />
        {list.more && <Button onClick={list.more}>Show more</Button>}
      </Section>
      {removing && (
        <RemoveRecording
          recording={removing}
          onDone={() => void list.reload()}
          onClose={() => setRemoving(null)}
        />
      )}
    </Page>
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
      <a class="icon-button" href={href} aria-label={`Play ${name}`} {...tooltip(`Play ${name}`)}>
        <Icon name="play" size={18} />
      </a>
      <IconButton icon="download" label={`Download ${name}`} onClick={() => void download(recording)} />
      <IconButton icon="trash" label={`Delete ${name}`} onClick={onRemove} />
    </Item>
  );
}
