import { useState } from 'preact/hooks';
import {
  type AdminAnnouncement,
  type AnnouncementFields,
  announce,
  changeAnnouncement,
  deleteAnnouncement,
  listAnnouncements,
} from '../../../api/service/announcements.ts';
import { atMinute } from '../../../lib/format/format.ts';
import { minuteInput, minuteOf } from '../../../lib/format/minute-input.ts';
import { toastOk } from '../../../state/toasts.ts';
import { Button, IconButton } from '../../../ui/button.tsx';
import { AreaField, SelectField, TextField } from '../../../ui/fields/field.tsx';
import { useLoaded } from '../../../ui/hooks/use-loaded.ts';
import { Item, Items, Section } from '../../../ui/section.tsx';
import { useForm } from '../../auth/use-submit.ts';
import { FormDialog } from '../../form-dialog.tsx';
import { usePageRequest } from '../../palette/page-requests.ts';
import { Removal } from '../../settings/remove-dialog.tsx';

const STATES = { scheduled: 'Scheduled', current: 'Shown now', ended: 'Ended' } as const;
const MADE = {
  scheduled: 'Announcement scheduled',
  current: 'Everybody sees the announcement now',
  ended: 'Announcement saved. Its end has already passed',
} as const;
const SEVERITIES = [
  ['info', 'Information'],
  ['warning', 'Warning'],
] as const;

function factsOf({ state, severity, starts_at, ends_at }: AdminAnnouncement): string {
  const starts = state === 'scheduled' ? `from ${atMinute(starts_at)}` : `since ${atMinute(starts_at)}`;
  const ends = ends_at === null ? 'until deleted' : `until ${atMinute(ends_at)}`;
  return [STATES[state], ...(severity === 'warning' ? ['warning'] : []), `${starts}, ${ends}`].join(' · ');
}

/** Announcements to everybody. */
export function AnnouncementsPage() {
  const list = useLoaded(listAnnouncements);
  const [editing, setEditing] = useState<AdminAnnouncement | 'new' | null>(null);
  usePageRequest('announcement', () => setEditing('new'));
  const [removing, setRemoving] = useState<AdminAnnouncement | null>(null);
  const reload = (): void => void list.reload();
  return (
    <Section
      title="Announcements"
      lead="Everybody who is signed in sees them at once, on every page, until they dismiss them."
      action={
        <Button kind="primary" icon="plus" onClick={() => setEditing('new')}>
          New announcement
        </Button>
      }
    >
      <Items
        of={list}
        none="No announcements."
        row={(one) => (
          <Item key={one.id} title={one.text} facts={factsOf(one)}>
            <IconButton icon="edit" label={`Change “${one.text}”`} onClick={() => setEditing(one)} />
            <IconButton icon="trash" label={`Delete “${one.text}”`} onClick={() => setRemoving(one)} />
          </Item>
        )}
      />
      {editing !== null && (
        <AnnouncementDialog
          before={editing === 'new' ? null : editing}
          onDone={reload}
          onClose={() => setEditing(null)}
        />
      )}
      {removing !== null && (
        <Removal
          title="Delete this announcement?"
          action="Delete"
          done="Announcement deleted"
          work={() => deleteAnnouncement(removing.id)}
          onDone={reload}
          onClose={() => setRemoving(null)}
        >
          <p>“{removing.text}” disappears from every page at once.</p>
        </Removal>
      )}
    </Section>
  );
}

type DialogProps = {
  /** null for a new one. */
  readonly before: AdminAnnouncement | null;
  readonly onDone: () => void;
  readonly onClose: () => void;
};

type Entered = {
  readonly text: string;
  readonly severity: string;
  readonly starts_at: string;
  readonly ends_at: string;
};

/** Without the last year a browser takes years of six digits, which are no times for the service. */
const TIME_INPUT = { type: 'datetime-local', max: '9999-12-31T23:59' } as const;

/** What differs from before: an untouched time keeps its seconds. */
function changesOf(before: AdminAnnouncement | null, entered: Entered): Partial<AnnouncementFields> {
  const { text, severity, starts_at, ends_at } = entered;
  const startsAt = minuteOf(starts_at);
  return {
    // why: an announcement is one line, and a text area accepts line breaks
    text: text.replace(/\s*\n\s*/g, ' '),
    severity: severity as AnnouncementFields['severity'],
    ...(startsAt !== null && starts_at !== minuteInput(before?.starts_at ?? null)
      ? { starts_at: startsAt }
      : {}),
    ...(ends_at !== minuteInput(before?.ends_at ?? null) ? { ends_at: minuteOf(ends_at) } : {}),
  };
}

function AnnouncementDialog({ before, onDone, onClose }: DialogProps) {
  const initial: Entered = {
    text: before?.text ?? '',
    severity: before?.severity ?? 'info',
    starts_at: minuteInput(before?.starts_at ?? null),
    ends_at: minuteInput(before?.ends_at ?? null),
  };
  const form = useForm(initial, async (entered) => {
    const body = changesOf(before, entered);
    const { state } = await (before === null ? announce(body) : changeAnnouncement(before.id, body));
    toastOk(before === null ? MADE[state] : 'Announcement changed');
    onDone();
    onClose();
  });
  return (
    <FormDialog
      title={before === null ? 'New announcement' : 'Change the announcement'}
      form={form}
      action={before === null ? 'Announce' : 'Save'}
      busy="Saving"
      onClose={onClose}
      novalidate
      locked
    >
      <AreaField
        label="Text"
        {...form.field('text')}
        hint="One line of plain text, up to 500 characters. Addresses with https:// become links."
        area={{ rows: 3, maxLength: 500, class: 'prose', ...{ 'data-autofocus': true } }}
      />
      <SelectField label="Kind" {...form.field('severity')} options={SEVERITIES} />
      <div class="field-pair">
        <TextField
          label="Appears"
          {...form.field('starts_at')}
          hint="Empty: at once."
          input={{ ...TIME_INPUT, name: 'starts_at' }}
        />
        <TextField
          label="Disappears"
          {...form.field('ends_at')}
          hint="Empty: when you delete it."
          input={{ ...TIME_INPUT, name: 'ends_at' }}
        />
      </div>
    </FormDialog>
  );
}
