import { sentence } from '../../api/errors.ts';
import type { Container } from '../../api/types.ts';
import {
  exactUse,
  layerSpace,
  type Space,
  spaceAdvice,
  stoppedAboveMb,
  stoppedForSpace,
  volumeSpace,
} from '../../lib/format/disk-space.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';

type SpaceProps = {
  readonly container: Container;
  readonly onClose: () => void;
  /** Opens its settings; absent on pages without them. */
  readonly onSettings?: () => void;
};

/** A container's disk use, what happens at its limits, and what to do about it. */
export function SpaceDialog({ container, onClose, onSettings }: SpaceProps) {
  const advice = spaceAdvice(container);
  return (
    <Dialog title={`Disk use of ${container.name}`} onClose={onClose}>
      <div class="dialog-body">
        {stoppedForSpace(container) !== null && (
          <p class="space-reason">{sentence(container.status_reason ?? '')}</p>
        )}
        <SpaceLine title="Workspace" where="Files in /workspace." space={volumeSpace(container)}>
          {volumeEnd(container)}
        </SpaceLine>
        <SpaceLine
          title="Layer"
          where="Packages, /tmp, /root and everything else outside /workspace."
          space={layerSpace(container)}
        >
          Measured every minute. Above its limit, the container is stopped.
        </SpaceLine>
        {advice.length > 0 && (
          <section class="advice">
            <h3>What you can do</h3>
            <ul>
              {advice.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          </section>
        )}
      </div>
      <footer class="dialog-foot">
        {onSettings && <Button onClick={onSettings}>Settings…</Button>}
        <Button kind="primary" onClick={onClose} autofocus>
          Close
        </Button>
      </footer>
    </Dialog>
  );
}

function volumeEnd(container: Container): string {
  const stopsAt = stoppedAboveMb(container);
  return stopsAt === null
    ? 'When it is full, programs get “No space left on device”. The container keeps running.'
    : `Measured every minute. Above ${stopsAt} MB, the container is stopped.`;
}

type LineProps = {
  readonly title: string;
  readonly where: string;
  readonly space: Space;
  readonly children: string;
};

function SpaceLine({ title, where, space, children }: LineProps) {
  const { usedMb, limitMb, fill } = space;
  return (
    <section class={`space ${fill}`}>
      <h3>
        <span>{title}</span>
        <span class="space-use">{exactUse(space)}</span>
      </h3>
      <meter
        aria-label={`${title}: ${exactUse(space)}`}
        max={limitMb}
        value={Math.min(usedMb ?? 0, limitMb)}
      />
      <p class="field-note">
        {where} {usedMb === null && 'Not measured yet. '}
        {children}
      </p>
    </section>
  );
}
