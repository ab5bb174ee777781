import { useEffect, useRef, useState } from 'preact/hooks';
import { downloadRecording, getRecording } from '../../api/terminals/recordings.ts';
import type { Recording } from '../../api/types.ts';
import { isDark } from '../../lib/browser/preferences.ts';
import { lazyImport } from '../../lib/lazy-import.ts';
import { Button, Spinner } from '../../ui/button.tsx';
import { Check } from '../../ui/fields/check.tsx';
import { useTitle } from '../../ui/hooks/use-title.ts';
import { Icon } from '../../ui/icon.tsx';
import { Problem } from '../../ui/problem.tsx';
import { download, Facts, RemoveRecording, StateTag } from './recording-details.tsx';

type Loaded = { readonly recording: Recording; readonly cast: string };

async function load(id: string): Promise<Loaded> {
  const [recording, content] = await Promise.all([getRecording(id), downloadRecording(id)]);
  return { recording, cast: await content.text() };
}

/** One recording, played back. */
export function PlaybackPage({ id }: { id: string }) {
  const [loaded, setLoaded] = useState<Loaded | null>(null);
  const [failure, setFailure] = useState<unknown>(null);
  useTitle(loaded === null ? 'Recording' : `${loaded.recording.container_name} · Recording`);
  useEffect(() => {
    load(id).then(setLoaded, setFailure);
  }, [id]);
  return (
    <div class="page playback-page">
      <a class="playback-back" href="/recordings">
        <Icon name="back" /> All recordings
      </a>
      {failure !== null && (
        <>
          <h1>Recording</h1>
          <Problem failure={failure} />
        </>
      )}
      {loaded === null
        ? failure === null && (
            <div class="playback-wait late" role="status">
              <Spinner /> Loading the recording…
            </div>
          )
        : loaded && <Playback {...loaded} />}
    </div>
  );
}

function Playback({ recording, cast }: Loaded) {
  const [removing, setRemoving] = useState(false);
  const [skipPauses, setSkipPauses] = useState(true);
  return (
    <>
      <div class="page-head">
        <div class="playback-title">
          <h1>
            {recording.container_name} <StateTag state={recording.state} />
          </h1>
          <p>
            <Facts recording={recording} />
          </p>
        </div>
        <Button icon="download" onClick={() => void download(recording)}>
          Download
        </Button>
        <Button icon="trash" onClick={() => setRemoving(true)}>
          Delete
        </Button>
      </div>
      {recording.duration_ms === 0 && <p class="none">The terminal showed nothing during this recording.</p>}
      <Screen recording={recording} cast={cast} skipPauses={skipPauses} />
      <div class="playback-foot">
        <Check label="Skip pauses" checked={skipPauses} onChange={setSkipPauses} />
        <p class="playback-keys">
          <kbd>Space</kbd> play or pause, <kbd>←</kbd> <kbd>→</kbd> back or forward 5 s, <kbd>.</kbd> next
          frame, <kbd>f</kbd> full screen
        </p>
      </div>
      {removing && (
        <RemoveRecording
          recording={recording}
          onDone={() => location.assign('/recordings')}
          onClose={() => setRemoving(false)}
        />
      )}
    </>
  );
}

type ScreenProps = {
  readonly recording: Recording;
  readonly cast: string;
  readonly skipPauses: boolean;
};

/** Of a terminal's cell: its height by its width. */
const CELL = 2.2;

/** The player takes the focus, so that its keys work. A change of colours keeps its position. */
function Screen({ recording: { cols, rows, duration_ms: lengthMs }, cast, skipPauses }: ScreenProps) {
  const host = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<unknown>(null);
  const left = useRef({ seconds: 0, playing: false, skipPauses });
  const dark = isDark();
  useEffect(() => {
    let end = (): void => {};
    let gone = false;
    const show = async (element: HTMLElement): Promise<void> => {
      const { playback } = await lazyImport(() => import('../../recordings/playback.ts'));
      if (gone) return;
      const player = playback(element, cast, { dark, skipPauses, posterSeconds: lengthMs / 2000 });
      element.querySelector<HTMLElement>('.ap-wrapper')?.focus();
      const before = left.current;
      left.current = { seconds: 0, playing: false, skipPauses };
      player.addEventListener('playing', () => Object.assign(left.current, { playing: true }));
      player.addEventListener('pause', () => Object.assign(left.current, { playing: false }));
      end = () => {
        // why: a player that was not started says it is at the moment of its poster
        const isStarted = element.querySelector('.ap-overlay-start') === null;
        left.current.seconds = isStarted ? player.getCurrentTime() : 0;
        player.dispose();
      };
      // why: with other pauses the same second shows something else
      if (before.seconds === 0 || before.skipPauses !== skipPauses) return;
      // why: a player shows a position only after it was started
      await player.play();
      await player.seek(before.seconds);
      if (!before.playing) await player.pause();
    };
    if (host.current !== null) show(host.current).catch(setFailure);
    return () => {
      gone = true;
      end();
    };
  }, [cast, dark, skipPauses]);
  return (
    <>
      {failure !== null && <Problem failure={failure} />}
      <div class="playback-screen" ref={host} style={{ '--tallness': (CELL * rows) / cols }} />
    </>
  );
}
