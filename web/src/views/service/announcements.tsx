import { useEffect, useRef } from 'preact/hooks';
import type { Announcement } from '../../api/service/announcements.ts';
import { linkedText } from '../../lib/linked-text.ts';
import { dismissAnnouncement, shownAnnouncements } from '../../state/announcements.ts';
import { IconButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';

/** Announcements, at the lower edge of the page: nothing moves when one comes or goes. */
export function Announcements() {
  const shown = shownAnnouncements();
  const list = useRef<HTMLDivElement>(null);
  const dismiss = (one: Announcement): void => {
    dismissAnnouncement(one);
    // why: the button with the focus goes
    requestAnimationFrame(() =>
      (list.current?.querySelector('button') ?? document.getElementById('main'))?.focus(),
    );
  };
  return (
    <div ref={list} role="status" aria-label="Announcements" class={shown.length > 0 ? 'announcements' : ''}>
      {shown.map((one) => (
        <Notice key={one.id} of={one} onDismiss={() => dismiss(one)} />
      ))}
    </div>
  );
}

function Notice({ of: { text, severity }, onDismiss }: { of: Announcement; onDismiss: () => void }) {
  return (
    <div class={`announcement ${severity}`}>
      <Icon name={severity === 'warning' ? 'warning' : 'megaphone'} size={18} />
      <p>
        {severity === 'warning' && <span class="visually-hidden">Warning: </span>}
        <Linked text={text} />
      </p>
      <IconButton icon="close" label="Dismiss the announcement" onClick={onDismiss} />
    </div>
  );
}

/** Plain text with its `https` addresses as links. */
export const Linked = ({ text }: { text: string }) =>
  linkedText(text).map(({ text: part, href }, index) =>
    href === undefined ? (
      part
    ) : (
      <a key={index} href={href} target="_blank" rel="noopener noreferrer">
        {part}
      </a>
    ),
  );

/** Beside a terminal, which keeps its size: a button with the first text, which opens them all. */
export function AnnouncementButton({ onOpen }: { onOpen: () => void }) {
  const shown = shownAnnouncements();
  const [first] = shown;
  return (
    <>
      <div class="visually-hidden" role="status" aria-label="Announcements">
        {shown.map(({ id, text }) => (
          <p key={id}>{text}</p>
        ))}
      </div>
      {first !== undefined && (
        <button
          type="button"
          class={`announcement-button ${first.severity}`}
          title={first.text}
          aria-label={shown.length === 1 ? 'Read the announcement' : `Read ${shown.length} announcements`}
          aria-haspopup="dialog"
          onClick={onOpen}
        >
          <Icon name={first.severity === 'warning' ? 'warning' : 'megaphone'} />
          <span>{first.text}</span>
        </button>
      )}
    </>
  );
}

/** All of them, until the last is dismissed. */
export function AnnouncementDialog({ onClose }: { onClose: () => void }) {
  const shown = shownAnnouncements();
  useEffect(() => {
    if (shown.length === 0) onClose();
  }, [shown.length]);
  return (
    <Dialog title="Announcements" onClose={onClose} narrow>
      <div class="dialog-body">
        {shown.map((one) => (
          <Notice key={one.id} of={one} onDismiss={() => dismissAnnouncement(one)} />
        ))}
      </div>
    </Dialog>
  );
}
