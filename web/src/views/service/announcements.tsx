import { useRef, useState } from 'preact/hooks';
import type { Announcement } from '../../api/service/announcements.ts';
import { linkedText } from '../../lib/linked-text.ts';
import { dismissAnnouncement, shownAnnouncements } from '../../state/announcements.ts';
import { IconButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Icon } from '../../ui/icon.tsx';

/** Notices of administrators, at the lower edge of the page: nothing moves when one comes or goes. */
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

/** Beside a terminal, which keeps its size: a button with the newest text, which opens them all. */
export function AnnouncementButton() {
  const [open, setOpen] = useState(false);
  const shown = shownAnnouncements();
  const [newest] = shown;
  const close = (): void => setOpen(false);
  const dismiss = (one: Announcement): void => {
    dismissAnnouncement(one);
    if (shown.length === 1) close();
  };
  return (
    <>
      <div class="visually-hidden" role="status" aria-label="Announcements">
        {shown.map(({ id, text }) => (
          <p key={id}>{text}</p>
        ))}
      </div>
      {newest !== undefined && (
        <button
          type="button"
          class={`announcement-button ${newest.severity}`}
          title={newest.text}
          aria-label={shown.length === 1 ? 'Read the announcement' : `Read ${shown.length} announcements`}
          aria-haspopup="dialog"
          onClick={() => setOpen(true)}
        >
          <Icon name={newest.severity === 'warning' ? 'warning' : 'megaphone'} />
          <span>{newest.text}</span>
        </button>
      )}
      {open && newest !== undefined && (
        <Dialog title="Announcements" onClose={close} narrow>
          <div class="dialog-body">
            {shown.map((one) => (
              <Notice key={one.id} of={one} onDismiss={() => dismiss(one)} />
            ))}
          </div>
        </Dialog>
      )}
    </>
  );
}
